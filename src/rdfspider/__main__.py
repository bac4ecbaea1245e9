"""`python -m rdfspider` is the command `rdfspider`."""

from rdfspider.cli import main

if __name__ == "__main__":
    main()
