"""Numbers, dates, names, yes and no: what of a sentence has to be in its passage."""

from __future__ import annotations

import pytest

from kb.citations.denials import read_polarity
from kb.citations.facts import missing_facts, read_facts
from kb.citations.polarity import contradicted


def missing(said: str, known: str) -> list[str]:
    return missing_facts(read_facts(said), read_facts(known))


def denied(said: str, *units: str) -> bool:
    return contradicted(read_polarity(said), [read_polarity(unit) for unit in units])


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
        ("We ship to Canada.", "Canadian customers get theirs too."),
        ("Ask the People team.", "Owner: People team"),
        ("**Carry Over:** it expires.", "What you carry over expires."),
        ("3. Open the lid.", "Open the lid."),
        ("Returns are free in the UK.", "A return in the United Kingdom is free."),
        ("Any European Union country.", "Any EU country will do."),
        ("GOV.UK uses GA4.", "We use GA4 on GOV.UK."),
        ("Phase B lists the gaps.", "Phases A to D list the gaps."),
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
        ("Phase C produces it.", "Phase B produces it.", "name"),
        ("MIT is a licence.", "It goes mit a licence.", "name"),
    ],
)
def test_a_changed_fact_is_missed(said: str, known: str, kind: str) -> None:
    assert missing(said, known) == [kind]


@pytest.mark.parametrize(
    ("said", "unit"),
    [
        ("Employees get 25 days.", "Employees get 25 days, not counting bank holidays."),
        ("Submit it by 31 March.", "Submit it no later than 31 March."),
        ("No, you may not work abroad.", "You may not work abroad."),
        ("Refunds are not possible.", "We can't give refunds, it is not possible."),
        ("Gift cards are not only refundable.", "Gift cards are refundable."),
        ("Restitutie is niet mogelijk.", "Restitutie is niet mogelijk voor cadeaubonnen."),
        ("Das gilt nicht für Gutscheine.", "Für Gutscheine gilt das nicht."),
        ("The remaining weeks are not paid.", "The remaining weeks are unpaid."),
        (
            "Plants that arrive damaged may be returned.",
            "Plants cannot be returned, unless they arrive damaged.",
        ),
        ("Codes by SMS are not allowed.", "Codes by SMS are not accepted."),
        ("Only repairs are deployed on Fridays.", "Nothing is deployed on Fridays, except a repair."),
        (
            "A freeze needs the approval of the head.",
            "In a freeze nothing is done without the approval of the head.",
        ),
        (
            "You may ask a lawyer before court.",
            "You may ask a lawyer before court, but you cannot have a lawyer in court.",
        ),
        ("Guests may stay; nobody is turned away.", "Guests may stay."),
        ("Contributions do not stop during leave.", "Contributions continue during leave."),
        (
            "Software that is not from the portal needs a ticket.",
            "Only software from the portal may be installed without a ticket.",
        ),
        ("Without a badge you cannot enter.", "Employees may enter only with a badge."),
        ("The reviewer does not merge; the author does.", "The author merges, not the reviewer."),
        ("Report it to security rather than to sales.", "Report it to security, not to sales."),
        ("Wine is not reimbursed.", "Tips are reimbursed up to ten percent, wine is not."),
        ("It is kept no longer than 90 days.", "It is kept for up to 90 days."),
        ("Trips of 50 euros or less need no approval.", "Trips above 50 euros need approval."),
        ("Hay que pedir las vacaciones.", "Las vacaciones se deben pedir."),
    ],
)
def test_a_not_beside_the_point_contradicts_nothing(said: str, unit: str) -> None:
    assert not denied(said, unit)


@pytest.mark.parametrize(
    ("said", "unit"),
    [
        ("You may work abroad.", "You may not work abroad."),
        ("You may not work abroad.", "You may work abroad for 20 days."),
        ("You can't carry days over.", "You can carry days over."),
        ("Leave is paid.", "Leave is unpaid."),
        ("Gift cards are refundable.", "Gift cards are non-refundable."),
        ("Restitutie is mogelijk.", "Restitutie is niet mogelijk."),
        ("Das gilt nicht für Gutscheine.", "Das gilt für Gutscheine."),
        ("Dit is mogelijk.", "Dit is onmogelijk."),
        ("Plants can be returned.", "Plants cannot be returned, unless they arrive damaged."),
        (
            "You can have a lawyer in court.",
            "You may ask a lawyer before court, but you cannot have a lawyer in court.",
        ),
        ("Texts cannot be intercepted.", "Codes are not accepted, because texts can be intercepted."),
        ("Deploy with the phone.", "Avoid to deploy with the phone."),
        ("Contributions stop during leave.", "Contributions continue during leave."),
        ("Claims above 150 euros are approved.", "Claims below 150 euros are approved."),
        ("You may take at least 8 weeks.", "You may take up to 8 weeks."),
        ("Files are kept for a year before the contract ends.", "Files are kept after the contract ends."),
        ("Reichen Sie Belege vor der Reise ein.", "Reichen Sie Belege nach der Reise ein."),
        (
            "Software is installed without a ticket.",
            "Software is installed with a ticket, never without one.",
        ),
        ("Wein wird erstattet.", "Trinkgeld wird erstattet, Wein gar nicht."),
        ("Los días se pueden pasar al año siguiente.", "Los días no se pueden pasar al año siguiente."),
        ("L'entreprise ne fournit pas d'écran.", "L'entreprise fournit un écran."),
        ("Reviews are blameless.", "Reviews blame somebody."),
    ],
)
def test_yes_for_no_and_no_for_yes_are_noticed(said: str, unit: str) -> None:
    assert denied(said, unit)


def test_the_unit_that_speaks_most_of_the_same_decides() -> None:
    units = ("Contractors do not get paid holiday.", "Employees get 25 days of paid holiday.")

    assert not denied("Employees get 25 days of paid holiday.", *units)
    assert denied("Employees do not get 25 days of paid holiday.", *units)
