"""Numbers, dates and names: what of a sentence has to be in its passage, in any form."""

from __future__ import annotations

import pytest

from kb.citations.facts import read_facts


def missing(said: str, known: str) -> list[str]:
    return list(read_facts(said).beyond(read_facts(known)).kinds)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("It costs 1,000 euro.", "De prijs is € 1.000."),
        ("It costs 1 000 euro.", "It costs 1000 EUR."),
        ("It takes two weeks.", "Levertijd: 2 weken."),
        ("Vijfentwintig dagen.", "25 days"),
        ("fünfundzwanzig tage", "twenty-five days"),
        ("It takes one week.", "It takes a week."),
        ("You get 5 working days.", "five business days"),
        ("Pay 12,5 %.", "Pay 12.5 percent."),
        ("A fine of 2 million euro.", "A fine of €2,000,000."),
        ("Carry over until 31 March.", "until 2026-03-31"),
        ("Am 3. März 2026 geht es los.", "It starts on March 3, 2026."),
        ("Since March 2026.", "Since 3 maart 2026."),
        ("Due on 3/4/2026.", "Due on 4 March 2026."),
        ("Open from 9 am to 5 pm.", "Open 9:00-17:00."),
        ("Op maandag.", "On Mondays."),
        ("Open 9am–5pm, Mon–Fri.", "Open 9:00-17:00 Monday through Friday."),
        ("We ship to Canada.", "Canadian customers get theirs too."),
        ("Ask the People team.", "Owner: People team"),
        ("**Carry Over:** it expires.", "What you carry over expires."),
        ("3. Open the lid.", "Open the lid."),
        ("Returns are free in the UK.", "A return in the United Kingdom is free."),
        ("Any European Union country.", "Any EU country will do."),
        ("GOV.UK uses GA4.", "We use GA4 on GOV.UK."),
        ("It pays €350 per week.", "The pay is 350 euros a week."),
        ("Hand it in within 14 days.", "Innerhalb von zwei Wochen."),
        ("It is updated every half hour.", "An update comes every 30 minutes."),
        ("Op de 5e van de maand.", "De vijfde van de maand."),
        ("Een wachtwoord heeft ten minste 14 tekens.", "Een wachtwoord heeft minstens 14 tekens."),
        ("Am 24. Dezember ist frei.", "Am 24. und 31. Dezember ist frei."),
        ("Saturdays and Sundays are free.", "The weekend is free."),
        ("Two audits a year.", "It is audited twice a year."),
        ("50 procent betaal je terug.", "De helft betaal je terug."),
        ("Ask in #on-call.", "Write to the channel #on-call."),
        ("El plazo es de dos semanas.", "The period is 14 days."),
        ("Cela coûte 1 000 euros.", "It costs €1,000."),
        ("Le 3 mars.", "On 3 March."),
        ("Run `deploy --to <host>`.", "Run `deploy --to web-1`."),
        ("There are three steps: ask, wait, go.", "Ask, wait, go."),
        ("Two billing options exist.", "Pay as you go, or subscribe."),
        ("Ask the West Team.", "Ask the western team."),
        ("It starts on July 1, 2020.", "It starts on July, 1, 2020."),
        ("It starts on July 1st 2020.", "It starts on 1st July, 2020."),
        ("Es gilt ab 1. Juli 2020.", "Es gilt ab 1. Juli, 2020."),
        ("Het begint op 1 juli 2020.", "It starts on July 1st, 2020."),
        ("Desde el 1 de julio de 2020.", "Desde el 1 julio, 2020."),
        ("Dès le 1er juillet 2020.", "Dès le 1 juillet, 2020."),
        ("One of the three stacks is the oldest.", "Stacks: US, EU and Azure."),
        ("Een van de drie groepen is groot.", "Groepen: noord, zuid en west."),
        ("Eine der vier Gruppen ist groß.", "Gruppen: Nord, Süd, Ost und West."),
        ("Uno de los tres equipos es grande.", "Equipos: norte, sur y oeste."),
        ("Une des trois équipes est grande.", "Équipes : nord, sud et ouest."),
        ("They have 4 offices.", "Offices: Bath, Bern, Bonn, Brest."),
        ("I asked once more.", "I asked again."),
    ],
)
def test_other_forms_of_the_same_fact_are_the_same(said: str, known: str) -> None:
    assert missing(said, known) == []


@pytest.mark.parametrize(
    ("said", "known", "kind"),
    [
        ("You get 26 days.", "You get 25 days.", "number"),
        ("The third floor.", "The second floor.", "number"),
        ("It is reviewed every autumn.", "It is reviewed every spring.", "weekday"),
        ("En julio está cerrada.", "En agosto está cerrada.", "date"),
        ("Quatre jours.", "Deux jours.", "number"),
        ("You get 25 weeks.", "You get 25 days.", "number"),
        ("It costs $20.", "It costs €20.", "number"),
        ("It takes three weeks.", "It takes two weeks.", "number"),
        ("It costs 1.5 euro.", "It costs 15 euro.", "number"),
        ("Open until 6 pm.", "Open until 5 pm.", "number"),
        ("Until 30 March.", "Until 31 March.", "date"),
        ("Until 31 April.", "Until 31 March.", "date"),
        ("Until 31 March 2027.", "Until 31 March 2026.", "date"),
        ("Since 2025-01-02.", "Since 2025-01-03.", "date"),
        ("In juni.", "In juli.", "date"),
        ("Every Monday.", "Every Tuesday.", "weekday"),
        ("We ship to Germany.", "We ship to Canada.", "name"),
        ("We ship to Austria.", "We ship to Australia.", "name"),
        ("Use the T480.", "Use the T490.", "name"),
        ("Set FOO_BAR.", "Set the variable.", "name"),
        ("You need version 1.2.3.", "You need version 1.2.4.", "name"),
        ("It pays 350 euros a month.", "It pays 350 euros a week.", "number"),
        ("It is 131 °C.", "It is 131 °F.", "number"),
        ("Ask in #engineering.", "Engineering asks in #on-call.", "name"),
        ("Run `shop rollback`.", "Run `shop promote`, there is no rollback.", "name"),
        ("Hay que avisar con tres semanas.", "Hay que avisar con dos semanas.", "number"),
        ("Le 4 mars.", "Le 3 mars.", "date"),
        ("```\nshop rollback\n```", "Run `shop promote`.", "name"),
        ("There are 2,715 cases of it.", "There are 2,175 cases of it.", "number"),
        ("It starts on July 2, 2020.", "It starts on July, 1, 2020.", "date"),
        ("One of the three stacks is in Europe.", "Two stacks are in Europe.", "number"),
        ("Een van de drie groepen is groot.", "Er zijn twee groepen.", "number"),
        ("Eine der drei Gruppen ist groß.", "Es gibt zwei Gruppen.", "number"),
        ("Uno de los tres equipos es grande.", "Hay dos equipos.", "number"),
        ("Une des trois équipes est grande.", "Il y a deux équipes.", "number"),
        ("It ends with exit code 3.", "It ends with exit code 2.", "number"),
        ("It takes one week.", "One of them takes a day.", "number"),
    ],
)
def test_a_changed_fact_is_missed(said: str, known: str, kind: str) -> None:
    assert missing(said, known) == [kind]
