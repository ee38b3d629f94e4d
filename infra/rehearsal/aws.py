"""Steps that a person takes in an AWS account beside the CDK CLI, as commands: aws.py COMMAND [ARGUMENT]…"""

import inspect
import json
import os
import sys
import urllib.request

import boto3
from botocore.exceptions import ClientError


def service(name, **credentials):
    return boto3.client(name, endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1", **credentials)


def pages(client, operation, key, **arguments):
    for page in client.get_paginator(operation).paginate(**arguments):
        yield from page[key]


def master_password():
    """The password of the secret that RDS keeps for the cluster."""
    secrets = service("secretsmanager")
    for secret in pages(secrets, "list_secrets", "SecretList"):
        if secret["Name"].startswith("rds!"):
            return json.loads(secrets.get_secret_value(SecretId=secret["ARN"])["SecretString"])["password"]
    sys.exit("RDS keeps no secret: was the data stack deployed?")


def first_key(deployment):
    """The first admin key, by the command of docs/deploy.md."""
    answer = service("lambda").invoke(FunctionName=f"{deployment}-migrate", Payload=b'{"first_admin_key": true}')
    return json.loads(answer["Payload"].read())["admin_key"]


def rest_api(deployment):
    return next(api["id"] for api in pages(service("apigateway"), "get_rest_apis", "items") if api["name"] == deployment)


def socket_api():
    return service("apigatewayv2").get_apis()["Items"][0]["ApiId"]


def enforce_policies():
    """From now on IAM decides; a user without any policy proves it."""
    iam = service("iam")
    iam.create_user(UserName="nobody")
    key = iam.create_access_key(UserName="nobody")["AccessKey"]
    switch = urllib.request.Request(os.environ["AWS_ENDPOINT_URL"] + "/_ministack/config", b'{"AUTH": true}')
    urllib.request.urlopen(switch).close()
    nobody = {"aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}
    try:
        service("sqs", **nobody).list_queues()
    except ClientError as error:
        if "AccessDenied" in error.response["Error"]["Code"]:
            return "policies are enforced"
        raise
    sys.exit("a user without any policy may list queues: the emulator is not patched")


def source_schedules(deployment):
    """Names of the schedules of monitored sources."""
    return "\n".join(
        each["Name"]
        for each in pages(service("scheduler"), "list_schedules", "Schedules", GroupName=f"{deployment}-sources")
    )


def refusals():
    """What the functions' logs say about missing permissions."""
    logs = service("logs")
    for group in pages(logs, "describe_log_groups", "logGroups"):
        for event in pages(logs, "filter_log_events", "events", logGroupName=group["logGroupName"]):
            if "AccessDenied" in event["message"] or "not authorized to perform" in event["message"]:
                print(f"{group['logGroupName']}: {event['message'][:300]}")


def remains():
    """What is left in the account, by kind: one line each."""
    kinds = {
        "stack": lambda: (
            stack["StackName"]
            for stack in service("cloudformation").describe_stacks()["Stacks"]
            if stack["StackName"] != "CDKToolkit"
        ),
        "function": lambda: (each["FunctionName"] for each in pages(service("lambda"), "list_functions", "Functions")),
        "queue": lambda: service("sqs").list_queues().get("QueueUrls", []),
        "bucket": lambda: (each["Name"] for each in service("s3").list_buckets()["Buckets"]),
        "table": lambda: service("dynamodb").list_tables()["TableNames"],
        "log group": lambda: (each["logGroupName"] for each in pages(service("logs"), "describe_log_groups", "logGroups")),
        "schedule group": lambda: (each["Name"] for each in service("scheduler").list_schedule_groups()["ScheduleGroups"]),
        "secret": lambda: (each["Name"] for each in pages(service("secretsmanager"), "list_secrets", "SecretList")),
        "role": lambda: (each["RoleName"] for each in pages(service("iam"), "list_roles", "Roles")),
    }
    for kind, list_names in kinds.items():
        for name in list_names():
            print(f"{kind}: {name}")


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    commands = {name.replace("_", "-"): each for name, each in globals().items() if inspect.isfunction(each)}
    print(commands[command](*arguments) or "", end="")
