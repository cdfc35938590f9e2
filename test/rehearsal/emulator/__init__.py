"""
An account of AWS on this machine: the services of moto, with a CloudFormation that carries templates out on them, and
functions that are run by Node when they are invoked.
"""
