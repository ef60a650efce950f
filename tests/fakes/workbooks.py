"""Workbooks for tests: new ones by XlsxWriter, one old one as its bytes, OpenDocument's byte by byte."""

from __future__ import annotations

import base64
import io
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import xlsxwriter

from tests.fakes.documents import a_zip

Cells: TypeAlias = Mapping[str, Any]
"""Place -> value, or value and number format."""


def a_workbook(
    cells: Cells,
    *,
    then: Callable[[Any, Any], object] | None = None,
    options: Mapping[str, Any] | None = None,
) -> bytes:
    """One sheet, "Rates". `then` gets the book and the sheet, for whatever else is to be in them."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True, **(options or {})})
    sheet = book.add_worksheet("Rates")
    for place, written in cells.items():
        value, code = written if isinstance(written, tuple) else (written, None)
        sheet.write(place, value, book.add_format({"num_format": code}) if code else None)
    if then is not None:
        then(book, sheet)
    book.close()
    return file.getvalue()


def rows(*lines: Sequence[Any]) -> dict[str, Any]:
    """Cells from A1 on; None leaves one out."""
    return {
        f"{chr(65 + across)}{down}": value
        for down, line in enumerate(lines, 1)
        for across, value in enumerate(line)
        if value is not None
    }


def an_ods(tables: str, *, styles: str = "") -> bytes:
    """`tables`: the XML of `table:table` elements."""
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
        for name, space in {
            "office": "office",
            "text": "text",
            "table": "table",
            "style": "style",
            "draw": "drawing",
        }.items()
    )
    content = (
        f"<office:document-content {names}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    return a_zip({"content.xml": content, "META-INF/manifest.xml": "<manifest/>"})


AN_XLS = zlib.decompress(base64.b85decode(  # written by xlwt, which is not kept up
    'c-rk)U1(fI6#i!J-QR3Bo1a#b>JpOvXbm>viwJdV)TS?nwLY}?gWYB?Bs9BM?rxA2)M}0RB8WaIK3J$feW{926>Vvs>_ef&J_v%4'
    'C_eS6P(h*1`pvobF1v9T8mPs{p36OV&Y3ea-<&x!bGVl-_AVX!a%dT==n+_0sU;9?&?&x&P{@GwwVEl0-#Fh|ht?G(;#|mR1mAUE'
    'h?zAs>%9z(FYI&Vz^{Ct!;6@5%g*p^qzS=LPzJ+JWi$3PKIEImpy28gJ}tao_~&B#z3^S4d0Y5S+AgVQa4|Qv{h=U^_v;a<OOq>n'
    'Ep2`l%>&qg^Cpg8eMkAW5j^V67Unt?>%Agtr*IsM@=2%cct%d(W7xp>{o`A*b_SoI3mDlvGCDRoO5J$Y?!u>LM?5?8{KKVE)=uIx'
    'c7}07S-S@(kOYdw9i`Ha1=11*Xnh=i)P{j;;X!$JxTC+ldIjqLY}Uux=;I85R{8{^p_M+#GozK>L`o}tiXqcV-`!^1benN|+KiiN'
    'Gj4C2ar@f%p`XFLTK}Hr<~V}d0cB3fMPmLz(t!x}7OGBVk(0KPW`kMC7Z$E#o)|$Zm`#<RE0mcKJU&~QcIV4gZkxO}JMFM$x9659'
    '?s4b63dP6VqR~#dRfoMl?M!=4m4yk<Egv=&GxL=hj<RRASaiz6p8FDYlkQxRHWe{WnzTf&u}sr7)-8v7io8honR2fj@fj}q^%GZr'
    'eDYvE_kw7SNa|u{qOiqG8a2FTTBKfP`xu{hyLu%3flkABL74DtmmcmD{<@5^Ny<aQ2WZLf*8GN`u=}Xkydkw)*~5cEmvh@1%J;Cm'
    'c;%^YvWvgv?q&Jp<nrNxlRxE-VT6HM6r2i2F{Z}U2k#sDHWz+Xa5erSeDELFWL#$g?6n}P>%k3kj*)tW`;zgNs!KZXoiACGth!`V'
    'vg=ZWQlu_LDMjm2j8ZJXpju#1g28yz(rKAvU*MCka;I4~NkBiYycMHgCoXAX@a=3K`9A%XdqpSZ$lr*pL8If8qB0kM1cM<FV9={D'
    'oS~!xKbW4)O5M?fK=Zj%5DYdT&_poQgg_I)raA)MfIv4Pu*A1Mf{)Z)Vqpma<1f>bB`XmP>}~OPv)62~?+WZ~wzwN_65H=GUnMhQ'
    'La+O9N{YK0Qu<rDcd%;jgnLER`Fh<es^wlug<eG~uXd<I9qQ13oRnNZkW0r75}T-8)&75-8+=zfze)bLv==U)Dl`8lQ0CXe!kXe|'
    'BO)s7OWkCf@PDD9eH`7xAsiGOht?dwyuelCd~Uj7=GJYYwT{2C7M%a`_<sY-+@AL'
))  # fmt: skip
"""A merged label over two rows with formats, a hidden row and column, a hidden sheet ("Pay")."""
