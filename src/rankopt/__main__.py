"""``python -m rankopt`` is the command ``rankopt``."""

from rankopt.cli.main import main

if __name__ == "__main__":
    main()
