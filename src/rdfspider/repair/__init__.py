"""A crawl's folder after damage: the folder enters, Findings leave (`verify.py`), and what can be mended is mended (`doctor.py`).

- `findings.py` has the table of everything that can be wrong, and what is done about it.
- `verify.py` only reads. `folder_checks.py` looks at settings, seeds and status, `shard_checks.py` at archives and frontiers and
  whether they agree, `index_checks.py` at the indexes and whether they are views of the archive.
- `doctor.py` plans a mend for each finding, and makes them in the order of the table. `frontier_restoration.py` makes a frontier
  again from the archive, `set_aside.py` moves away what is replaced: nothing is deleted.
"""
