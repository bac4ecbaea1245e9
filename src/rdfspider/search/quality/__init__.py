"""The report on a site's structured data: a sample of its pages enters, faults, gaps and conflicts leave.

`samples.py` reads the pages, bounded in number and time. `report.py` joins broken markup, missing properties (`gaps.py`) and
contradictions (`conflicts.py`).
"""
