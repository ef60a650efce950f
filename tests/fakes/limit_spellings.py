"""Hundreds of ways in which an author may write who may read a page: right, wrong, misspelt and in the wrong place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

SECRET = "Band 3 earns 5817."
BODY = f"# Pay bands\n\nHow we pay people, by band.\n\n{SECRET}\n"

_ZERO_WIDTH = "aud\u200bience"
KEYS = (
    "audience", "Audience", "AUDIENCE", "aUdIeNcE", "audience ", " audience", "audience\u00a0", "audience\u3000",
    "'audience'", '"audience"', "“audience”", "`audience`", "**audience**", "_audience_", "audiences", "Audiences",
    "audiance", "audeince", "audienc", "aud1ence", "au dience", "page_audience", "target-audience", "audience_channels",
    "\u0430udience", "\u0430ud\u0456\u0435n\u0441\u0435", "\u0391\u03c5d\u03b9\u03b5nc\u03b5", "\uff41\uff55\uff44\uff49\uff45\uff4e\uff43\uff45",
    _ZERO_WIDTH, "aud\u00adience", "aud\u2060ience", "audience\u200d", "aud\ufe0fience", "aud\u034fience", "aud\u3164ience",
    "\U0001d41a\U0001d42e\U0001d41d\U0001d422\U0001d41e\U0001d427\U0001d41c\U0001d41e", "a\u0332u\u0332d\u0332i\u0332e\u0332n\u0332c\u0332e\u0332",
    "\u1d00\u1d1c\u1d05\u026a\u1d07\u0274\u1d04\u1d07", "\u24d0\u24e4\u24d3\u24d8\u24d4\u24dd\u24d2\u24d4", "áudiéncé",
    "channels", "Channels", "channel", "readers", "visible_to", "visibleTo", "restricted-to", "allowed_channels", "viewers", "acl",
    "access", "visibility", "permissions", "groups", "roles", "sharedWith", "allowed groups", "audience.channels", "page.audience",
    "doelgroep", "Zielgruppe", "zichtbaarheid", "Sichtbarkeit", "visibilité", "público", "audiencia", "Zugriff", "lezers",
    "público objetivo", "destinataires", "Leserkreis", "公開範囲", "аудитория",
)  # fmt: skip
"""Names of a field."""

VALUES = (
    "'#leads'", "#leads", '"#leads"', "['#leads']", "[#leads]", "#leads, @finance", "'#Leads '", "C0123456789", "<#C0123456789|leads>",
    "@finance", "\uff03leads", "# leads", "#leads # only they", "“#leads”", "S0AB12CD34", "\\#leads", "&#35;leads", "leads", "people-leads",
    "!!str '#leads'", "&a '#leads'", ">-\n  #leads", "\n  - '#leads'", "\n- '#leads'", "{channels: ['#leads']}", "#leads;", "everyone in #leads",
)  # fmt: skip
"""Values of it."""

SHAPES = (
    "---\n{field}\n---\n", "---\ntitle: Pay\n{field}\n---\n", "---\n{field}\ntitle: Pay\n...\n", "--- \n{field}\n--- \n", "---\u00a0\n{field}\n---\u00a0\n",
    "---\u3000\n{field}\n---\n", "---\n{field}\n---\u00a0\n", "\u00a0---\n{field}\n---\n", " ---\n{field}\n ---\n", "    ---\n    {field}\n    ---\n",
    "\t---\n\t{field}\n\t---\n", "—\n{field}\n—\n", "———\n{field}\n———\n", "–--\n{field}\n–--\n", "–––\n{field}\n–––\n", "—-\n{field}\n—-\n",
    "\u2212\u2212\u2212\n{field}\n\u2212\u2212\u2212\n", "\u2010\u2010\u2010\n{field}\n\u2010\u2010\u2010\n", "--\n{field}\n--\n", "----\n{field}\n----\n", "-----------\n{field}\n---\n",
    "===\n{field}\n===\n", "***\n{field}\n***\n", "___\n{field}\n___\n", "~~~\n{field}\n~~~\n", "###\n{field}\n###\n", "\\---\n{field}\n\\---\n", "\"---\n{field}\n---\n\"",
    "- - -\n{field}\n- - -\n", "---\n{field}\n", "---\n{field}\n\n", "---\n\n{field}\n\n---\n", "---\n\n\n{field}\n---\n", "\n\n\n---\n{field}\n---\n",
    "%YAML 1.2\n---\n{field}\n---\n", "---\n%YAML 1.2\n---\n{field}\n---\n", "--- !page\n{field}\n---\n", "--- # about\n{field}\n---\n", "--- {{title: Pay}}\n---\n{field}\n---\n",
    "---yaml\n{field}\n---\n", "---\n# about this page\n{field}\n---\n", "---\n!!map\n{field}\n---\n",
    "---\nseo:\n  {field}\n---\n", "---\nseo:\n  deep:\n    {field}\n---\n", "---\nextra:\n  {field}\n---\n", "---\n- {field}\n---\n", "---\n- title: Pay\n- {field}\n---\n",
    "---\nbase: &base\n  {field}\n<<: *base\n---\n", "---\nbase: &base\n  {field}\npage:\n  <<: *base\n---\n", "---\ntitle: a: b\n{field}\n---\n", "---\ntitle: 'Pay\n{field}\n---\n",
    "---\n{field}\naudience: everyone\n---\n", "---\naudience: everyone\n{field}\n---\n", "---\naudience: everyone\nAudience: everyone\n{field}\n---\n",
    "---\ntitle: Pay\n---\n---\n{field}\n---\n", "---\ntitle: Pay\n---\n\n---\n{field}\n---\n", "---\ntitle: Pay\n---\n\n{field}\n\n", "---\ntitle: Pay\n---\n# Pay\n\n---\n{field}\n---\n",
    "---\ntitle: |\n  Pay\n  {field}\n---\n", "---\ndescription: >\n  {field}\n---\n", "---\n# {field}\n---\n", "---\n? title\n: Pay\n{field}\n---\n",
    "+++\n{field}\n+++\n", "+++\ntitle = 'Pay'\n[extra]\n{field}\n+++\n", "+++\n[a.b.c]\n{field}\n+++\n", ";;;\n{field}\n;;;\n", "{{{{{{\n{field}\n}}}}}}\n",
    "# Pay\n\n---\n{field}\n---\n", "# Pay\n---\n{field}\n---\n", "# Pay\n\n{field}\n\n", "Pay\n===\n\n{field}\n\n", "# Pay\n{field}\n", "# Pay\n\n- {field}\n- Owner: Ann\n\n", "# Pay\n\n> {field}\n\n",
    "# Pay\n\n**{field}**\n\n", "# Pay\n\n\n\n{field}\nOwner: Ann\n\n", "![logo](x.png)\n\n---\n{field}\n---\n", "[[_TOC_]]\n\n---\n{field}\n---\n", "<div>\n\n---\n{field}\n---\n\n</div>\n",
    "Hello.\n\n---\n{field}\n---\n", "import X from 'x'\n\n---\n{field}\n---\n", "{{% raw %}}\n---\n{field}\n---\n{{% endraw %}}\n", "# One\n\n## Two\n\n{field}\n\n",
    "<!--\n{field}\n-->\n", "<!-- {field} -->\n", "<!---\n{field}\n--->\n", "<!--\n---\n{field}\n---\n-->\n", "# Pay\n\n<!-- {field} -->\n", "How we pay.\n\n<!-- {field} -->\n", "{{/* {field} */}}\n",
    "{{# {field} #}}\n", "[//]: # ({field})\n", "[comment]: <> ({field})\n", "%% {field} %%\n", "// {field}\n", "/*\n{field}\n*/\n", ".. {field}\n", "% {field}\n", "; {field}\n", "# {field}\n", "#+{field}\n", "@{field}\n",
    "```\n{field}\n```\n", "```yaml\n{field}\n```\n", "```\n---\n{field}\n---\n```\n", "````md\n---\n{field}\n---\n````\n", "~~~yaml\n{field}\n~~~\n", "# Pay\n\n```yaml\n{field}\n```\n", "    {field}\n\n", "> ---\n> {field}\n> ---\n",
    "> {field}\n\n", "{field}\n\n", "{field}\n---\n", "{field}\ntitle: Pay\n\n", "title: Pay\n{field}\n---\n", "title: Pay\n\n{field}\n\n", ":{field}\n\n", "\n{field}\n\n", "<details>\n{field}\n</details>\n\n", "<meta>{field}</meta>\n\n",
    "::: meta\n{field}\n:::\n", "!!! note\n    {field}\n\n", "---\r\n{field}\r\n---\r\n", "---\r{field}\r---\r", "---\u0085{field}\u0085---\u0085", "---\u2028{field}\u2028---\u2028", "---\x0b{field}\x0b---\x0b", "---\x0c{field}\x0c---\x0c",
    "\ufeff---\n{field}\n---\n", "\ufeff\ufeff---\n{field}\n---\n", "\u200b---\n{field}\n---\n", "-\u200b--\n{field}\n---\n", "\ufffe---\n{field}\n---\n", "x---\n{field}\n---\n", "---\n{field}\n--- end\n", "---\n{field}\n+++\n",
)  # fmt: skip
"""Where the field stands."""

SEPARATORS = (
    ": ",
    ":",
    " : ",
    ":\t",
    "\uff1a",
    ":\u00a0",
    "\u00a0: ",
    ": \u3000",
    "\ufe55 ",
    "\u2236 ",
    "\ua789 ",
    " = ",
    "=",
    " => ",
    "::",
    " :: ",
    ":= ",
    " -> ",
    " - ",
    " – ",
    " | ",
)

WHOLE = (
    '{"audience": ["#leads"]}\n', '{"title": "Pay", "audience": "#leads"}\n', '{\n"audience": ["#leads",]\n}\n', "{audience: ['#leads']}\n", '{"a": {"audience": "#leads"}}\n', '[{"audience": "#leads"}]\n',
    '{"audience": "#leads", "audience": "everyone"}\n', '{"title": "Pay"}\n{"audience": "#leads"}\n', '{"title": "Pay"\n"audience": "#leads"}\n', '{\\"audience\\": \\"#leads\\"}\n', '{"\\u0061udience": "#leads"}\n',
    ';;;\n{"audience": "#leads"}\n;;;\n', '---json\n{"audience": "#leads"}\n---\n', '---\n{"audience": "#leads"}\n---\n', "---\n{title: Pay, audience: ['#leads']}\n---\n", '---\n"\\x61udience": "#leads"\n---\n',
    "---\n? audience\n: '#leads'\n---\n", "---\n? [audience]\n: '#leads'\n---\n", "---\n? {audience: '#leads'}\n: x\n---\n", "---\n!!str audience: '#leads'\n---\n", "---\n&a audience: '#leads'\n---\n", "---\nk: &k audience\n*k : '#leads'\n---\n",
    "---\naudience\n: '#leads'\n---\n", "---\naudience:\n\n\n  '#leads'\n---\n", "---\naudience: *x\n---\n", "---\naudience: !!binary I2xlYWRz\n---\n", "---\naudience: !secret leads\n---\n", "---\naudience: [[['#leads']]]\n---\n", "---\naudience: {a: '#leads'}\n---\n",
    "---\nlimit: {to: {audience: ['#leads']}}\n---\n", "---\nlimits: [{audience: '#leads'}]\n---\n", "---\naudience: |\n  #leads\n  @finance\n---\n", "---\naudience: '#leads\n---\n", "---\naudience: @finance\n---\n", "---\naudience: `x`\n---\n",
    "---\naudience: \n---\n", "---\naudience:\n---\n", "---\naudience: ~\n---\n", "---\naudience: []\n---\n", "---\naudience: 3\n---\n", "---\naudience: @here\n---\n", "---\naudience: '@channel'\n---\n", "---\naudience: '@everyone'\n---\n", "---\naudience: '#'\n---\n",
    "---\naudience: !everyone\n---\n", "---\naudience: not everyone\n---\n", "---\naudience: all managers\n---\n", "---\naudience: everyone but contractors\n---\n", "---\naudience: ['everyone', '#leads']\n---\n", "---\naudience: 'D0123456'\n---\n", "---\naudience: U0123456\n---\n",
    "+++\naudience = '#leads'\n+++\n", "+++\naudience: '#leads'\n+++\n", "+++\n[audience]\nchannels = ['#leads']\n+++\n", "+++\n[[audience]]\nchannel = '#leads'\n+++\n", "+++\npage.audience = '#leads'\n+++\n", "+++\n\"audience\" = '#leads'\n+++\n", "+++\naudience = '#leads\n+++\n", "+++\nextra = {audience = '#leads'}\n+++\n",
    "| audience | #leads |\n|---|---|\n| owner | Ann |\n\n", "| Field | Value |\n|---|---|\n| audience | #leads |\n\n", "<table><tr><td>audience</td><td>#leads</td></tr></table>\n\n", "<dl><dt>Audience</dt><dd>#leads</dd></dl>\n\n", "Audience\n: #leads\n\n", "<meta name=\"audience\" content=\"#leads\">\n\n", "<div data-audience=\"#leads\"></div>\n\n",
    "<?audience #leads?>\n\n", "<audience>#leads</audience>\n\n", "{{< audience \"#leads\" >}}\n\n", "{% audience \"#leads\" %}\n\n", "{: audience=\"#leads\"}\n\n", "export const meta = {audience: '#leads'}\n\n", "export const audience = '#leads'\n\n", "audience is #leads\n\n", "## Audience\n\n#leads\n\n", "# Pay\n\nAudience\n--------\n\n- #leads\n\n",
    "# Pay {audience=#leads}\n\n", "---\nprivate: true\n---\n", "---\nconfidential: yes\n---\n", "---\nrestricted: true\n---\n", "---\ninternal: true\n---\n", "---\nvisibility: private\n---\n", "---\naccess: restricted\n---\n", "---\naccess: private\n---\n", "---\nacl: [leads]\n---\n", "---\npermissions: {read: [leads]}\n---\n", "---\nclassification: confidential\n---\n",
    "---\nclassification: TLP:RED\n---\n", "---\nTLP: red\n---\n", "---\ngroups: [leads]\n---\n", "---\nroles: [hr]\n---\n", "---\nviewers: [ann]\n---\n", "---\nsecurity: confidential\n---\n", "---\nsensitivity: high\n---\n", "---\nstatus: restricted\n---\n", "---\npublic: no\n---\n", "---\nseo:\n  private: true\n---\n",
    "———\nprivate: true\n———\n", "# Pay\n\n---\nconfidential: true\n---\n", "<!-- private: true -->\n", "```yaml\nvisibility: private\n```\n", "---\nlimited_to: leads\n---\n", "---\nonly_for: '#leads'\n---\n", "---\nwho: '#leads'\n---\n", "---\nshare: '#leads'\n---\n", "---\nvisible_in: '#leads'\n---\n", "---\nfor: '#leads'\n---\n", "---\nrestrict: '#leads'\n---\n", "---\nreadable_by: leads\n---\n",
    "---\ndeny: ['*']\n---\n", "---\nnot_for: contractors\n---\n", "---\nhr_only: true\n---\n", "---\nmanagers-only: yes\n---\n", "---\nclearance: 3\n---\n", "---\nis_private: true\n---\n", "---\nisPrivate: true\n---\n", "---\nprivacy: private\n---\n", "---\nscope: private\n---\n", "---\nintern: ja\n---\n", "---\nvertraulich: ja\n---\n", "---\nprivé: oui\n---\n", "---\nprivado: sí\n---\n", "---\nsigilo: x\n---\n",
)  # fmt: skip
"""Heads that are no product of the above."""

ODDITIES = (
    '---\naudience:#leads\n---\n', '---\naudience :#leads\n---\n', '---\naudience: #leads\n---\n', '---\naudience: "#leads\n---\n',
    '---\nAudience:\t#leads\n---\n', '---\naudience: ‘#leads’\n---\n', '---\nauthor:\n  audience: leads\n---\n',
    '---\npage:\n  meta:\n    audience: leads\n---\n', '---\nlist:\n  - - audience: leads\n---\n', "---\n- audience\n- '#leads'\n---\n",
    "---\naudience, '#leads'\n---\n", "---\ntitle: Pay\naudience '#leads'\n---\n", '---\ntitle: Pay\naudience=#leads\n---\n',
    '---\ntitle: Pay # audience: #leads\n---\n', '---\ntitle: Pay; audience: leads\n---\n', "---\ntitle: Pay, audience: '#leads'\n---\n",
    '+++\naudience = leads\n+++\n', '+++\ntitle = """\naudience = \'#leads\'\n"""\n+++\n', "+++\n# audience = '#leads'\n+++\n",
    '+++ \naudience = ["#leads"]\n+++\n', "++++\naudience = ['#leads']\n++++\n", "+++toml\naudience = ['leads']\n+++\n",
    '---toml\naudience: leads\n---\n', '---\n"audience" = ["leads"]\n---\n', '---\naudience -> leads\n---\n', '---\naudience => leads\n---\n',
    '---\naudience\tleads\n---\n', '{\n  "meta": {\n    "audience": "leads"\n  }\n}\n', "{\n  'audience': 'leads'\n}\n", '{ audience: leads }\n',
    '[\n {"audience": "leads"}\n]\n', '{{"audience": "leads"}}\n', '({"audience": "leads"})\n', '"audience": "leads"\n\n',
    'json\n{"audience": "leads"}\n', '<!-- audience: leads -->\n', '<!--\n  title: Pay\n  audience: leads\n-->\n',
    '<!-- title: Pay; audience: leads -->\n', '<!-- @audience leads -->\n', '<!-- audience leads -->\n', '<!--audience=leads-->\n',
    '<!-- {"audience": "leads"} -->\n', '# Pay\n<!-- audience: leads -->\n', 'Intro text of some words here.\n<!-- audience: leads -->\n',
    '[_metadata_:audience]:- "leads"\n', '[audience]: # (leads)\n', '[audience]: <> (leads)\n', '[//]: # "audience: leads"\n',
    '```yaml\naudience: leads\n```\n', '```yaml\n---\naudience: leads\n---\n```\n', '~~~\naudience: leads\n~~~\n', '````\naudience: leads\n````\n',
    '```yaml audience=leads\n```\n', '# Pay\n\n```\naudience: leads\n```\n', '    audience: leads\n\n', '\taudience: leads\n\n',
    '<pre>\naudience: leads\n</pre>\n', '<code>audience: leads</code>\n\n', '*audience: leads*\n\n', '- audience: leads\n\n', '1. audience: leads\n\n',
    '| audience | leads |\n|---|---|\n\n', '> audience: leads\n\n', '**Audience**: `#leads`\n\n', '# Pay\n\n**Audience**: `#leads`\n\n',
    'Audience — #leads\n\n', '# Pay\n\nAudience → #leads\n\n', '# Pay\n\n🔒 Audience: #leads\n\n',
    '# Pay\n\n*Audience*: [#leads](https://acme.slack.com/archives/C0123456789)\n\n', '# Pay\n\nAudience: <#C0123456789>\n\n',
    '# Pay\n\nAudience: only #leads\n\n', '# Pay\n\nAudience: #leads only\n\n', '# Pay\n\nAudience (confidential): #leads\n\n',
    '# Pay\n\nOnly for #leads\n\n', '# Pay\n\nVisible to: #leads\n\n', '# Pay\n\nRestricted to #leads.\n\n', '---\nvisibility: internal\n---\n',
    '---\naccess: internal-only\n---\n', '---\naccess: { groups: [x] }\n---\n', '---\naccess_level: 3\n---\n', "---\nprivate: 'true'\n---\n",
    '---\nPRIVATE: TRUE\n---\n', '---\nprіvate: true\n---\n', '---\nprivate : yes\n---\n', '---\nsettings: {private: yes}\n---\n',
    '---\nacl: hr\n---\n', '---\nACL:\n  - hr\n---\n', '---\nallowedRoles: [hr]\n---\n', '---\nuser_groups: [hr]\n---\n', '---\nusergroup: hr\n---\n',
    '---\nrequired_role: hr\n---\n', '---\nreader_groups: [hr]\n---\n', '---\nview: private\n---\n', '---\nshare: private\n---\n',
    '---\nsharing: restricted\n---\n', '---\ndistribution: restricted\n---\n', "---\ndistribution: '#leads'\n---\n", '---\nlevel: confidential\n---\n',
    '---\nmarking: OFFICIAL-SENSITIVE\n---\n', '---\ncategory: confidential\n---\n', '---\ntype: private\n---\n', "---\nscope: '#leads'\n---\n",
    "---\nslack_audience: '#leads'\n---\n", "---\nfootnote: {audience: '#leads'}\n---\n", "---\nfootnote_audience: '#leads'\n---\n",
    "---\naudience.0: '#leads'\n---\n", "---\naudience[0]: '#leads'\n---\n", "---\naudience: ['#leads'\n---\n", "---\naudience: '#leads', '#x'\n---\n",
    '---\naudience: #leads @finance\n---\n', "---\naudience: '#leads;#hr'\n---\n", "---\naudience: '#leads and #hr'\n---\n",
    '---\naudience: https://acme.slack.com/archives/C0123456789\n---\n', '---\ndoelgroep: leads\n---\n', "---\nZielgruppe: '#leads'\n---\n",
    "---\npublic cible: '#leads'\n---\n", '———\ndoelgroep: leads\n———\n', '---\nVertraulichkeit: hoch\n---\n', '---\nöffentlich: nein\n---\n',
    "---\nnur für: '#leads'\n---\n", "---\nalleen voor: '#leads'\n---\n", "---\nréservé à: '#leads'\n---\n", "---\nsólo para: '#leads'\n---\n",
    "---\n\x01audience: '#leads'\n---\n", "---\r\r\naudience: '#leads'\r\r\n---\r\r\n", "\n \n\t\n---\naudience: '#leads'\n---\n",
    '\\-\\-\\-\naudience: leads\n\\-\\-\\-\n', '&#45;&#45;&#45;\naudience: leads\n&#45;&#45;&#45;\n', "---\naudi&shy;ence: '#leads'\n---\n",
    "---\n<b>audience</b>: '#leads'\n---\n", '<p>audience: #leads</p>\n\n', '<span hidden>audience: leads</span>\n\n',
    "<meta name='audience' content='leads'>\n\n", '<!DOCTYPE html>\n<!-- audience: leads -->\n', '#+AUDIENCE: leads\n',
    '#+audience: leads\n:audience: leads\n', '= Pay\n:audience: leads\n\n', '.. meta::\n   :audience: leads\n\n', '.. audience: leads\n\n',
    ':audience: leads\n\n', '\\audience{leads}\n', '% audience: leads\n', '; audience: leads\n', 'rem audience: leads\n', 'audience: leads;\n\n',
    'audience := leads\n\n', 'export audience=leads\n\n', "$audience = 'leads'\n\n", "@audience('leads')\n\n", '{{ audience: leads }}\n\n',
    "{% set audience = 'leads' %}\n\n", "<% audience = 'leads' %>\n\n", '{audience: leads}\n\n', '[audience: leads]\n\n', '(audience: leads)\n\n',
    '[[audience: leads]]\n\n', 'audience:: leads\n\n', '<!-- vale off --><!-- audience: leads -->\n',
)  # fmt: skip
"""What nobody thought of at first."""


WITHIN = (
    "fields: [[audience, people-leads]]", "fields:\n  - [audience, [people-leads, hr]]",
    'properties: [{key: audience, value: people-leads}]', 'properties:\n  - name: audience\n    value: people-leads',
    'custom_fields: [{name: Audience, value: people-leads}]', 'head:\n  - [meta, {name: audience, content: people-leads}]',
    'frontmatter: "audience: people-leads"', 'meta: |\n  audience: people-leads', 'notes: |\n  owner: x\n  audience: people-leads',
    "x: {y: 'audience: people-leads'}", '# audience: people-leads', 'status: final # audience: people-leads', '# Audience: people-leads',
    '# visibility: private', '# restricted_to: hr', "chanels: '#people-leads'", "channles: ['#people-leads']", 'chanel: C0123ABCD',
    'chanels: people-leads', "chan: '#leads'", "where: ['#leads','#hr']", "limits: {to: '#leads'}", 'chnl: C0123ABCD9',
    'classification: Confidential - HR only', 'classification: C3', 'classification: for HR eyes only', 'classification: HR eyes only',
    'classification: Internal only', "classification: 'Restricted (HR)'", 'classification: Level 3 - Secret', 'confidentiality: strictly confidential, HR',
    'tags: [confidential]', 'labels: [private, hr]', 'categories: restricted', "keywords: 'pay, confidential'", 'tags:\n  - Private', 'tag: private',
    'category: [private]', 'who_can_read: hr', 'whoCanRead: hr', 'readership: hr', 'team_only: true', 'only: hr', 'can_read: hr', 'can_view: [hr]',
    'viewable: hr', 'viewable: false', 'recipients: hr', 'intended_for: hr', 'intended_readers: hr', 'security_group: hr', 'security_groups: [hr]',
    'ad_groups: [hr]', 'ad_group: hr', 'embargoed: true', 'non_public: true', 'not_public: true', 'nonpublic: yes', 'gated: true', 'encrypted: true',
    'state: private', 'status: private', 'status: Private (HR)', 'sensitivity: Restricted (HR)', 'sensitivity: confidential / HR', 'handling: HR only',
    'handling: Confidential', 'distribution: HR only', 'distribution: limited', 'nur_fuer: Leitung', 'nur_für: Leitung', 'alleen_voor: HR',
    'réservé_à: RH', 'reserve_a: RH', 'solo_para: RH', 'leaders_only: true', 'private_to: hr', 'may_read: hr', 'read_access: hr', 'view_access: hr',
    'access_group: hr', 'access_rights: restricted', 'team_only: people', 'finance-only: true', 'eyes_only: hr', 'need_to_know: true', 'page_readers: hr',
    'permitted: hr', 'permitted_groups: hr', 'authorized_groups: [hr]', 'authorised: hr', 'entitlements: [hr]', 'limited: hr', 'limited: true',
    'restricted_audience: hr', 'confidential_to: hr', 'visible_only_to: hr', 'shown_only_to: hr', 'properties: {audience: people-leads}',
    'attributes:\n  - key: Audience\n    val: people-leads', "props: ['audience=people-leads']", "properties: 'audience=people-leads; owner=ann'",
    "meta: {raw: 'audience: people-leads'}", 'settings: \'{"audience": "people-leads"}\'', "description: 'For HR. audience: people-leads'",
    "title: 'Pay (audience: people-leads)'", "labels: ['audience:people-leads']", "tags: ['audience:hr']", 'tags: [audience/people-leads]',
    'tags: [hr-only]', 'tags: [internal-only]', 'tags: [access:restricted]', 'labels: {visibility: private}', 'labels: [visibility:private]',
    "tags: '#private'", 'tags: [strictly_confidential]', '#audience: people-leads', '## audience = people-leads', '# audience people-leads',
    '#   - audience: [people-leads]', 'title: x #audience:people-leads', '# private: true', "chanells: '#hr'", "channels: '#hr'", "chanels:\n  - '#hr'",
    "channels_: '#hr'", "kanaal: '#hr'", "canal: '#hr'", "rooms: ['#hr']", "room: '#hr'", "post_to: '#hr'", "visible_channels: '#hr'",
    'chans: C0123ABCD, C0123ABCE', "chans: '#hr, #leads'", "chans: '<#C0123ABCD>'", "groups_: '@hr-team'", "chans: '#hr #leads'", "chans: {a: '#hr'}",
    'classification: HR-only', 'classification: Confidential: HR', 'classification: [confidential, hr]', 'classification: {level: confidential}',
    'class: confidential', 'data_class: C3', 'classification: 3', 'classification: Strictly private', "classification: 'Internal - HR only'",
    'classification: Company Secret', 'classification: RESTRICTED//HR', 'classification: 🔒 Confidential', 'classification: need-to-know',
    "sensitivity: 'C4'", 'confidentiality: high', 'protection: high', 'secrecy: secret', 'info_class: confidential',
    'document_classification: Confidential', 'security_classification: Secret', 'sensitivity_level: high', 'confidential: HR',
    'confidentiality_notice: HR only', 'license: confidential', 'rights: restricted', 'copyright: confidential', 'who_may_see: hr', 'who_has_access: hr',
    'whocansee: [hr]', 'read_by: hr', 'visible: hr', 'visible_for_roles: hr', 'hidden_from_public: true', 'not_for_public: true', 'private_page: true',
    'is_restricted: true', 'is_hr_only: true', 'page_access: hr', 'access_list: [hr]', 'access_policy: hr', 'allow_list: [hr]', 'allowlist: [hr]',
    'whitelist: [hr]', 'member_of: hr', 'members_only: true', 'require_role: hr', 'required_group: hr', 'min_role: manager', 'roles_allowed: [hr]',
    'share_with: hr', 'target_group: hr', 'intended_audience: hr', 'intendedfor: hr', 'team_private: true', 'restrict_to: hr', 'restriction: hr',
    'limited_access: true', 'need_login: true', 'auth_required: true', 'public_access: false', 'is_public: false', 'unrestricted: false',
    'invite_only: true', 'nda: true', 'under_nda: true', 'sichtbar_für: HR', 'visible_par: RH', 'vertraulich: HR', 'destinatário: HR', 'uniquement: RH',
    'nur: Leitung', 'exklusiv: HR', 'målgrupp: HR', 'kohderyhmä: HR', 'odbiorca: HR', 'hedef_kitle: HR', 'целевая_аудитория: HR', '対象者: HR', 'الجمهور: HR',
    'קהל: HR', '독자: HR',
    'auth: true', 'auth: required', 'login: true', 'login: required', 'sso: true', 'sso_required: true', 'signed_in: true', 'logged_in: true',
    'access_code: 4711', 'passphrase: x', 'noaccess: true', 'no_access: true', 'off_limits: true', 'shareable: false', 'do_not_share: true',
    'no_share: true', 'dont_distribute: true', 'noforn: true', 'protect: true', 'policy: private', 'policy: restricted', 'principals: [hr]',
    'allowed_emails: [ann@x.nl]', 'published_to: hr', 'afgeschermd: ja', 'beperkt: ja', 'niet_openbaar: ja', 'nicht_öffentlich: ja',
    'zugangsbeschränkt: ja', 'interne: oui', 'accès_restreint: oui', 'secreto: sí', 'acceso_restringido: sí', 'interno: sim', 'acesso_restrito: sim',
    'alleen_hr: ja', 'nur_hr: ja',
)  # fmt: skip
"""Front matter whose fields have other names, or whose limit is within something: a pair, a text, a comment."""

MARKED = (
    '**Audience** – people-leads\n\n', '**AUDIENCE:** people-leads\n\n', 'Audience - people-leads\n\n', '### Audience: people-leads\n\n',
    '## Audience\n\npeople-leads\n\n', '| Audience | people-leads |\n|---|---|\n\n', '|  |  |\n|---|---|\n| **Audience** | people-leads |\n\n',
    '> **Audience:** people-leads\n\n', '> [!NOTE]\n> Audience: people-leads\n\n', '<p align=right>Audience: people-leads</p>\n\n',
    '*Audience: people-leads*\n\n', '**Audience: people-leads**\n\n', 'Audience: people-leads, finance-leads\n\n',
    '**Audience:** people-leads and hr-team\n\n', '**Audience:** [people-leads]\n\n', '**Audience:** people-leads only\n\n',
    '**Audience:** @people-leads\n\n', '**Audience** = people-leads\n\n', '**Audience:**\npeople-leads\n\n', '**Audience:**\n- people-leads\n\n',
    '- Owner: Ann\n- Audience: people-leads\n\n', 'Owner: Ann | Audience: people-leads\n\n', 'Owner: Ann · **Audience:** people-leads\n\n',
    'Updated today. Audience: people-leads\n\n', '**Target audience:** people-leads\n\n', '**Visibility:** private\n\n',
    '**Visibility:** people-leads\n\n', 'Visibility: private\n\n', '**Access:** restricted\n\n', '**Classification:** Confidential\n\n',
    'Classification: Confidential - HR only\n\n', '**Restricted to:** people-leads\n\n', '{audience: people-leads}\n\n', '\\[audience: people-leads]\n\n',
    '((audience: people-leads))\n\n', '$audience: people-leads$\n\n', '=== Audience: people-leads ===\n\n', 'Audience::people-leads\n\n',
    '🔒 **Audience:** people-leads\n\n', '@audience people-leads\n\n', '<kbd>Audience: people-leads</kbd>\n\n', '<small>Audience: people-leads</small>\n\n',
    '<sub>**Audience:** people-leads</sub>\n\n', '[audience: people-leads](#x)\n\n', '<div hidden>audience: people-leads</div>\n\n',
    '---xml\n<audience>people-leads</audience>\n---\n', '---xml\n<page audience="people-leads"/>\n---\n', ';;;\n{:audience "people-leads"}\n;;;\n',
    '<frontmatter><audience>people-leads</audience></frontmatter>\n\n', '<audience>people-leads</audience>\n\n', '---edn\n{:audience "x"}\n---\n',
    "<?xml version='1.0'?>\n<meta><audience>x</audience></meta>\n\n", '**Audience:** people-leads\n\n', '**Audience**: people-leads\n\n',
    '_Audience:_ people-leads\n\n', '*Audience*: people-leads\n\n', '__Audience:__ people-leads\n\n', '***Audience:*** people-leads\n\n',
    'Audience: people-leads\n\n', '<?audience people-leads?>\n\n', '!!! audience "people-leads"\n\n    Text\n\n', '!!! audience\n    people-leads\n\n',
    '!!! note "audience: people-leads"\n\n', '::: audience people-leads\n:::\n\n', '<details>\naudience: people-leads\n</details>\n\n',
    '<details><summary>Metadata</summary>\n\naudience: people-leads\n\n</details>\n\n',
    '<details><summary>About this page here</summary>\n\nAudience: people-leads\n\n</details>\n\n',
    '<details><summary>Audience: people-leads</summary>x</details>\n\n', '# Pay\n\n**Audience:** people-leads\n\n',
    '# Pay\n**Audience:** people-leads\n\n', '# Pay\n\nAudience: people-leads\n\n', '# Pay\n\n**Owner:** Ann\n**Audience:** people-leads\n\n',
    '# Pay\n\n- **Audience:** people-leads\n\n', '# Pay\n\n**Audience:** `people-leads`\n\n', '# Pay\n\n**Readers:** people-leads\n\n',
    '# Pay\n\n**Visible to:** people-leads\n\n', '# Pay\n\n<b>Audience:</b> people-leads\n\n', "<!-- " + 200 * "word " + "audience: people-leads -->\n\n",
    "<!-- " + 200 * "word " + "-->\n---\naudience: people-leads\n---\n", "<!--\n" + 200 * "word word\n" + "audience: people-leads\n-->\n\n",
    "<!-- " + 700 * "w" + " -->\n\naudience: people-leads\n\n",
)  # fmt: skip
"""What a mark of the text sets apart above a page."""

BELOW = (
    '\n[//]: # (audience: people-leads)\n', '\n[//]: # "audience: people-leads"\n', '\n[comment]: <> (audience: people-leads)\n',
    '\n<!-- audience: people-leads -->\n', '\n<!-- Audience: people-leads -->\n', '\nText <!-- audience: people-leads --> text.\n',
    '<?audience people-leads?>\n', '\nSee.[^1]\n\n[^1]: audience: #people-leads\n',
    '\n<details>\n<summary>Metadata</summary>\n\naudience: people-leads\n\n</details>\n',
)  # fmt: skip
"""What is not seen, or is no text, below a page."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A page: `name` of its file and `text`. `shown`: what tells it apart in a failure."""

    name: str
    text: str

    @property
    def shown(self) -> str:
        return repr(self.text.replace(BODY, ""))[:160]


WORDS_OF_PAGES = frozenset(
    {"channels", "Channels", "channel", "access", "permissions", "groups", "roles", "público", "Zugriff"}
)
"""Which an ordinary page says of something else ("Access: #help-vpn"): they are fields where a fence says so."""


def spellings() -> Iterator[Spelling]:
    """Each shape with the plain field, each key, value and separator in
    the commonest shapes, and heads of their own.
    """
    for shape in SHAPES:
        yield _page(shape, "audience", ": ", "'#leads'")
        yield _page(shape, "audience", " = ", "'#leads'")
        yield _page(shape, '"audience"', ": ", '"#leads"')
    common = (
        "---\ntitle: Pay\n{field}\n---\n",
        "———\n{field}\n———\n",
        "{field}\n\n",
        "# Pay\n\n{field}\n\n",
        "<!-- {field} -->\n",
        "+++\n{field}\n+++\n",
    )
    for shape, key in product(common, KEYS):
        if key in WORDS_OF_PAGES and shape in common[2:4]:
            continue
        yield _page(shape, key, " = " if "+++" in shape else ": ", "'#leads'")
    for shape, value in product(common, VALUES):
        yield _page(shape, "audience", " = " if "+++" in shape else ": ", value)
    for shape, separator in product(common, SEPARATORS):
        yield _page(shape, "audience", separator, "'#leads'")
    for head in (*WHOLE, *ODDITIES, *MARKED):
        yield Spelling("pay.md", head + BODY)
    for fields in WITHIN:
        yield Spelling("pay.md", f"---\ntitle: Pay\n{fields}\n---\n{BODY}")
    for foot in BELOW:
        yield Spelling("pay.md", BODY + foot)


def _page(shape: str, key: str, separator: str, value: str) -> Spelling:
    return Spelling("pay.md", shape.format(field=f"{key}{separator}{value}") + BODY)
