"""The report on a site's structured data: a sample of its pages enters, faults, gaps and conflicts leave.

`report.py` joins what `faults.py` (broken markup), `gaps.py` with `recommendations.py` (missing properties) and `conflicts.py`
find in the pages that `samples.py` reads. All of it is bounded in pages and seconds.
"""
