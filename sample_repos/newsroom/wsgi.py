"""gunicorn --workers 4 wsgi:app"""

from newsroom import create_app

app = create_app()
