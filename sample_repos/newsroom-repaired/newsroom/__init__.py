from flask import Flask

from .db import session


def create_app():
    app = Flask(__name__)
    from .cli import commands
    from .views import accounts, articles, comments, hooks, press, subscriptions

    for module in (accounts, articles, comments, hooks, press, subscriptions):
        app.register_blueprint(module.bp)
    app.cli.add_command(commands)

    @app.teardown_appcontext
    def forget_session(error):
        session.remove()

    return app
