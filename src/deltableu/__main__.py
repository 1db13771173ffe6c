"""`python -m deltableu`."""

from deltableu.cli.app import main

if __name__ == "__main__":
    main()
