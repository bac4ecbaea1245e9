"""What is wrong with the structured data of a page: its statements and problems enter, Findings leave.

`page.py` applies the rules to one page; their codes and words are in `findings.py`, their facts in `vocabulary/`. Profiles, which
are data (`profiles/*.toml`), say which rules hold and what classes need. `totals.py` adds up many pages, `lines.py` finds lines.
"""
