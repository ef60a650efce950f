"""French. The keys are the fields of `bot.messages.Messages`.

The space before `: ; ? ! »` and after `«` does not break; it is written here as a plain one and made so below.
"""

from __future__ import annotations

import re
from typing import Any

_SPACE_THAT_STAYS = re.compile(r" (?=[:;?!»](?:\s|$))|(?<=«) ")


def _typeset(text: Any) -> Any:
    if isinstance(text, tuple):
        return tuple(_typeset(one) for one in text)
    return _SPACE_THAT_STAYS.sub("\u00a0", text) if isinstance(text, str) else text


FRENCH: dict[str, Any] = {
    "searching": "Recherche dans la base de connaissances…",
    "reading": ("Lecture de {n} page…", "Lecture de {n} pages…"),
    "writing": "Rédaction de la réponse…",
    "checking": "Comparaison de la réponse avec les pages…",
    "interpreted_as": "Compris comme : _{query}_",
    "declined": "Je n'ai pas trouvé cela dans la base de connaissances.",
    "nearest": "Les pages les plus proches sont : {pages}.",
    "ask_better": "Précisez le produit, l'équipe ou la règle dont il s'agit, ou demandez au responsable de l'une de ces pages.",
    "ask_better_alone": "Essayez d'autres mots, ou précisez le produit, l'équipe ou la règle dont il s'agit.",
    "unclear_readings": "Voulez-vous dire {readings} ?",
    "unclear": "Je ne suis pas sûr de ce dont il s'agit. Pouvez-vous poser la question en entier ?",
    "unavailable": (
        "Je n'ai pas accès à la base de connaissances en ce moment et ne peux donc pas dire si cela s'y trouve. "
        "Reposez la question dans quelques minutes, s'il vous plaît."
    ),
    "greeting": "Bonjour ! Posez-moi une question et je chercherai dans la base de connaissances.",
    "thanks": "Je vous en prie !",
    "who_are_you": "Je suis Footnote. Je réponds à partir de la base de connaissances et je cite la page derrière chaque phrase.",
    "goodbye": "Au revoir !",
    "help": (
        "Posez-moi une question en une phrase, par exemple : _Combien de jours de congé ai-je ?_ "
        "Je réponds à partir de la base de connaissances et je cite les pages. Dans ce fil, vous pouvez continuer sans me mentionner."
    ),
    "failed": "Désolé, un problème est survenu pendant la réponse. Il est consigné sous {question_id} ; reposez la question, s'il vous plaît.",
    "not_in_channel": "Je ne peux pas écrire dans {channel}, car je n'en suis pas membre. Invitez-moi et reposez la question, s'il vous plaît.",
    "this_channel": "ce canal",
    "shortened": "Ceci est abrégé. Demandez la suite, ou ouvrez les sources.",
    "says": "{page} dit :",
    "closest": "Je n'ai rien trouvé qui le dise. Le plus proche est :",
    "closest_declined": "Je n'ai pas trouvé cela dans la base de connaissances. La page la plus proche dit :",
    "nearest_others": "Autres pages proches : {pages}.",
    "on_part": "Sur _{part}_",
    "unfound": "Je n'ai rien trouvé à ce sujet : {parts}",
    "rows_shown": "{shown} lignes sur {total} ; la page les contient toutes.",
    "items_shown": "{shown} points sur {total} ; la page les contient tous.",
    "nothing_more": "C'est tout ce que les pages en disent.",
    "review_overdue": "*{title}* devait être révisée le {date} ({ago}).",
    "expired": "*{title}* a expiré le {date} ({ago}).",
    "old_review": "*{title}* a été révisée pour la dernière fois le {date} ({ago}).",
    "old_edit": "*{title}* a été modifiée pour la dernière fois le {date} ({ago}).",
    "superseded": "*{title}* a été remplacée par {successor}.",
    "superseded_alone": "*{title}* a été remplacée.",
    "older_version": "*{title}* existe dans une version plus récente : {successor}.",
    "conflict": "Les pages se contredisent : {newer} et {older}. La plus récente vient en premier.",
    "undated_warning": "*{title}* ne porte pas de date ; vérifiez-la avant de vous y fier.",
    "owner": "Responsable : {owner}.",
    "sources": "Sources",
    "reviewed": "révisée le {date}",
    "edited": "modifiée le {date}",
    "outdated": "périmée",
    "replaced": "remplacée",
    "undated": "sans date",
    "overdue_since": "à réviser depuis le {date}",
    "expired_on": "expirée le {date}",
    "replaced_by": "remplacée par {successor}",
    "later_version": "version plus récente : {successor}",
    "owned": "responsable : {owner}",
    "note_extractive": "Citations tirées des pages.",
    "note_model_unavailable": "Le modèle n'est pas joignable : voici des citations tirées des pages.",
    "note_model_refused": "Le modèle a refusé de répondre : voici des citations tirées des pages.",
    "note_reranker": "Le reclassement est désactivé ; l'ordre des sources est moins précis.",
    "note_pages_language": "La réponse est dans la langue des pages, pas dans celle de votre question.",
    "note_pages_in": "Langue des pages : {languages}.",
    "note_history": "L'historique de ce fil n'est pas joignable ; je l'ai lu dans Slack.",
    "sentences_removed": ("Une phrase retirée : absente de la page.", "{n} phrases retirées : absentes de la page."),
    "helpful": "Cette réponse m'a aidé",
    "not_helpful": "Cette réponse ne m'a pas aidé",
    "why": "Pourquoi cette réponse ?",
    "thanks_up": "Merci ! C'est noté : cette réponse a aidé.",
    "thanks_down": "Merci ! C'est noté : quelque chose n'allait pas.",
    "feedback_title": "Quel est le problème ?",
    "feedback_reason": "Qu'est-ce qui n'allait pas dans la réponse ?",
    "feedback_comment": "Qu'aurait-elle dû dire ? (facultatif)",
    "reason_wrong": "Elle est fausse",
    "reason_outdated": "Elle n'est plus à jour",
    "reason_incomplete": "Il manque quelque chose",
    "reason_other_question": "Elle répond à une autre question",
    "send": "Envoyer",
    "close": "Fermer",
    "feedback_failed": "Désolé, votre avis n'a pas pu être enregistré pour le moment.",
    "why_gone": "Je n'ai plus les détails de cette réponse.",
    "why_question": "Question posée",
    "why_searched": "Recherche faite",
    "why_unchanged": "la question telle qu'elle a été posée",
    "why_translated": "Recherche dans la langue des pages",
    "why_method": "Reformulée par",
    "why_lost": "La reformulation du modèle n'a pas été utilisée",
    "why_unsure": "sûr à {percent}",
    "why_topics": "Sujets du fil",
    "why_follow_up": "Suite de la réponse précédente",
    "why_context": "Mots du fil recherchés en plus, et leur poids",
    "why_anchors": "Pages favorisées parce que le fil en parle",
    "why_rerank": "Relu par un cross-encoder",
    "why_rerank_on": "oui, {candidates} passages, son poids est de {weight} : sur {samples} titres de ces pages, il a placé la "
    "bonne section plus haut ({before} sans lui, {after} avec lui ; 100\u00a0% veut dire toujours première)",
    "why_rerank_off": "non : sur {samples} titres de ces pages, il n'a pas placé la bonne section plus haut de façon sûre "
    "({before} sans lui, {after} avec lui ; 100\u00a0% veut dire toujours première), donc il ne prend pas de temps",
    "why_decision": "Résultat",
    "why_confidence": "confiance {percent}",
    "why_passages": "Passages trouvés",
    "why_scores": "sens {dense} · mots {lexical} · ensemble {fused} · fil {anchor} · relu {rerank} · au final {final}",
    "why_freshness": "Actualité des pages citées",
    "why_removed": "Phrases retirées parce qu'aucune page ne les appuie",
    "why_parts": "Demandé en une fois",
    "why_searches": "Le modèle a cherché aussi",
    "why_judge": "Second contrôle des phrases",
    "judge_off": "désactivé ; elles ont été contrôlées à la lettre",
    "judge_judged": "fait : un modèle a lu chaque phrase à côté de sa source",
    "judge_late": "arrivé trop tard ; elles n'ont été contrôlées qu'à la lettre",
    "judge_failed": "échoué ; elles n'ont été contrôlées qu'à la lettre",
    "why_notes": "Remarques",
    "why_timings": "Durées",
    "yes": "oui",
    "no": "non",
    "none": "aucun",
    "not_admin": "Désolé, seuls les administrateurs peuvent faire cela. Demandez à un administrateur de votre espace de travail, ou à être ajouté à la liste de Footnote.",
    "admin_unknown": "Slack ne me dit pas pour le moment si vous êtes administrateur, je ne peux donc pas le faire. Réessayez dans quelques minutes, s'il vous plaît.",
    "usage": (
        "• `{command} reindex [source] [--full] [--dry-run]` relit les pages ; `--full` reconstruit tout à côté de l'index en service, `--dry-run` dit seulement ce qui changerait\n"
        "• `{command} forget URL` retire une page aussitôt et pour de bon\n"
        "• `{command} status` montre comment va Footnote\n"
        "• `{command} stats` montre comment il est utilisé\n"
        "• `{command} sources` liste les sources\n"
        "• `{command} gaps` liste ce qui a été demandé et que les pages ne disent pas\n"
        "• `{command} stale` liste les pages périmées, les plus citées d'abord"
    ),
    "unknown_command": "Je ne connais pas `{word}`. Ce que je connais :",
    "unknown_source": "Il n'y a pas de source `{source}`. Il y a : {sources}.",
    "no_sources": "Aucune source n'est configurée.",
    "everything": "toutes les sources",
    "reindex_started": "Réindexation lancée : {what} ; un message montre où elle en est.",
    "progress_by_dm": "Je ne suis pas dans ce canal, je montre donc l'avancement dans un message direct.",
    "reindex_joined": "Une réindexation est déjà en cours ; je suis celle-là.",
    "reindexing": "Réindexation : {what} {bar} {percent} · {done} pages sur {total}",
    "reindex_queued": "Réindexation : {what}, en attente de départ",
    "reindex_reading": "Réindexation : {what}, lecture des pages",
    "reindex_swapping": "Réindexation : {what}, passage au nouvel index",
    "about_left": "encore {time} environ",
    "reindex_done": "Terminé en {time} : {added} ajoutées, {changed} modifiées, {removed} retirées, {unchanged} inchangées, {failed} en échec",
    "reindex_would": "Regardé en {time}, rien n'a changé. Ce serait : {added} ajoutées, {changed} modifiées, {removed} retirées, {unchanged} inchangées, {failed} en échec",
    "reindex_refused": "La réindexation ({what}) a été refusée et l'index est resté tel quel : {reason}. Si c'est pourtant juste, `--force` passe outre.",
    "reindex_refused_openly": "La réindexation ({what}) a été refusée et l'index est resté tel quel. Si vous savez pourquoi et que c'est juste, `--force` passe outre.",
    "reindex_doubts": "Semblait faux et a été imposé : {number}",
    "not_named": "{number} non nommées ici",
    "rest_by_dm": "{person} a le reste dans un message direct : ici ne figure que ce que tout le monde dans ce canal peut lire.",
    "reindex_failed": "Désolé, la réindexation ({what}) a échoué. L'index est tel qu'avant. La raison est dans le journal de Footnote.",
    "reindex_resumed": "J'ai été redémarré en route : ce que j'avais déjà lu compte comme inchangé.",
    "reindex_cut_off": "La réindexation ({what}) a été interrompue par mon redémarrage et ne reprend pas. L'index est intact ; demandez-la à nouveau, s'il vous plaît.",
    "forgotten": "Oublié : {pages}. Cela n'est plus ni trouvé, ni cité, ni repris, et aucune réindexation ne le ramène.",
    "forget_unknown": "Aucune page de l'index n'a l'adresse {address}.",
    "command_failed": "Désolé, cela n'a pas marché. C'est consigné.",
    "status_pages": "Pages dans l'index : {pages} (passages : {passages})",
    "status_index_down": "L'index ne répond pas",
    "status_waiting": "Questions en attente : {number}",
    "status_store_down": "Le stockage des conversations ne répond pas",
    "status_model": "Les réponses sont rédigées par {model}",
    "status_extractive": "Aucun modèle : les réponses sont des citations tirées des pages",
    "status_reranker_on": "Le reclassement est activé",
    "status_reranker_off": "Le reclassement est désactivé",
    "offer_questions": (
        "Parmi les {total} dernières questions, {number} sont dans ces langues : {languages} ; "
        "`embed.model = \"{model}\"` les lit : voir README"
    ),
    "offer_pages": (
        "Parmi les {total} pages, {number} sont dans ces langues : {languages} ; "
        "`embed.model = \"{model}\"` les lit : voir README"
    ),
    "status_last_event": "Dernier événement de Slack : {ago}",
    "status_no_event": "Encore aucun événement de Slack",
    "status_workers": "Processus qui partagent une réindexation : {number}",
    "status_source": "*{source}* : pages : {pages} · {last} · {next}",
    "sync_never": "pas encore lue",
    "sync_done": "lue {ago} : {added} ajoutées, {changed} modifiées, {removed} retirées, {failed} en échec",
    "sync_done_along": "lue {ago}, toutes sources confondues : {added} ajoutées, {changed} modifiées, {removed} retirées, {failed} en échec",
    "sync_failed": "la lecture {ago} a échoué ; la raison est dans le journal de Footnote",
    "sync_on_request": "lue seulement sur demande",
    "sync_every": "relue à intervalles de {every}, la prochaine fois dans {time} environ",
    "sync_due": "relue à intervalles de {every}, la prochaine fois dans un instant",
    "stats_questions": "Questions posées : {number}",
    "stats_rewritten": "Reformulées : {number} ({percent})",
    "stats_rewrite_time": "Durée moyenne d'une reformulation : {ms} ms",
    "stats_model": "{model} : {calls} requêtes, {read} jetons lus ({cached} en cache), {written} écrits",
    "stats_checked": (
        "Phrases contrôlées : {sentences}, avec source {cited}, appuyées {supported}, retirées {removed}, "
        "renvois sans objet {dropped}"
    ),
    "stats_rewrites_lost": "Reformulations du modèle arrivées trop tard ou inutilisables : {number}",
    "stats_declined": "Introuvables dans la base de connaissances : {number}",
    "stats_unavailable": "Sans réponse à cause d'une panne : {number}",
    "stats_time": "Temps de réponse : {p50} ms pour la moitié, {p95} ms pour 95\u00a0%",
    "stats_feedback": "Avis : {up} utiles, {down} pas utiles",
    "stats_satisfaction": "Satisfaction : {percent}",
    "home_title": "Footnote répond à partir de vos propres pages",
    "home_what": (
        "Mentionnez-moi dans un canal avec une question, ou écrivez-moi directement. Je réponds dans le fil, je cite la "
        "page derrière chaque phrase et je préviens quand une page n'est plus à jour."
    ),
    "home_how": (
        "• Posez des questions entières : _{bot} Combien de jours de congé ai-je ?_\n"
        "• Continuez dans le fil sans me mentionner : _et quand expirent-ils ?_\n"
        "• Corrigez votre message et je corrigerai ma réponse\n"
        "• Dites avec 👍 ou 👎 si une réponse a aidé"
    ),
    "home_how_title": "Comment demander",
    "home_stats_title": "L'utilisation",
    "asked_by": "{person} a demandé : _{question}_",
    "you_asked": "Vous avez demandé : _{question}_",
    "ask_what": "Écrivez votre question après la commande : `{command} ask Combien de jours de congé ai-je ?`",
    "ask_not_now": "Je ne peux pas prendre votre question pour l'instant. Posez-la de nouveau dans quelques minutes.",
    "ask_cannot_answer": "Désolé, une erreur est survenue pendant la réponse. Elle est notée ; posez la question de nouveau.",
    "ask_once": "Cela a déjà été demandé ici : la réponse est dans le fil.",
    "shortcut_title": "Demander à Footnote",
    "shortcut_where": "Qui voit la réponse",
    "shortcut_alone": "Moi seul",
    "shortcut_thread": "Tout le monde, dans le fil",
    "shortcut_not_here": "Je ne suis pas dans ce canal : vous serez seul à voir la réponse.",
    "shortcut_send": "Demander",
    "ask_title": "Que dit « {title} » ?",
    "pane_prompts": "Posez-moi une question, par exemple :",
    "home_try_title": "Essayez l'une d'elles",
    "home_asking": "Votre réponse arrive sous *Messages* : _{question}_",
    "home_last_title": "Vos dernières questions",
    "home_sources_title": "Mes sources",
    "home_pages": ("{n} page", "{n} pages"),
    "home_overdue": ("{n} est périmée ({percent})", "{n} sont périmées ({percent})"),
    "home_synced": "lue {ago}",
    "home_sync_failed": "n'a pas pu être lue {ago}",
    "home_admin_title": "Pour les administrateurs",
    "show_figures": "Chiffres",
    "show_status": "État",
    "show_gaps": "Lacunes",
    "show_stale": "Pages périmées",
    "show_votes": "Votes reçus",
    "one_moment": "Un instant…",
    "votes_none": "Personne n'a encore voté.",
    "votes_private": "une question posée en privé",
    "usage_everyone": (
        "• `{command} ask QUESTION` répond à vous seul\n"
        "• `{command} channel` règle ma conduite dans ce canal ; pour les administrateurs et pour qui a créé le canal\n"
        "• `{command} help` affiche ceci"
    ),
    "usage_admins": "Pour les administrateurs :",
    "ago": "il y a {time}",
    "second": ("{n} s", "{n} s"),
    "minute": ("{n} min", "{n} min"),
    "hour": ("{n} heure", "{n} heures"),
    "day": ("{n} jour", "{n} jours"),
    "month": ("{n} mois", "{n} mois"),
    "year": ("{n} an", "{n} ans"),
    "months": (
        "janvier", "février", "mars", "avril", "mai", "juin",
        "juillet", "août", "septembre", "octobre", "novembre", "décembre",
    ),
    "date_form": "{day} {month} {year}",
    "first_of_month": "1er",
    "thousands": "\u202f",
    "percent_form": "{n}\u00a0%",
    "zero_is_plural": False,
    "language_names": (
        "anglais", "néerlandais", "allemand", "français", "espagnol", "italien",
        "portugais", "polonais", "japonais", "chinois", "coréen",
    ),
    "and_also": "{first} et {last}",
    "or_else": "{first} ou {last}",
}  # fmt: skip
FRENCH |= {key: _typeset(text) for key, text in FRENCH.items()}
