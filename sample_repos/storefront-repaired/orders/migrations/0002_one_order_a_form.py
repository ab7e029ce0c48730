from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orders", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="order",
            name="form_key",
            field=models.CharField(max_length=80, null=True, unique=True),
        ),
        migrations.AddConstraint(
            model_name="returnrequest",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "asked")), fields=("order",), name="one_open_return"
            ),
        ),
    ]
