import { Aws } from 'aws-cdk-lib/core';

/** A function with a fixed name, which others call. */
interface Invocable {
  readonly functionName: string;
  readonly functionArn: string;
}

/** The database verifiers, by job. */
export type Verifiers = Readonly<Record<'verify-database-a' | 'verify-database-b', Invocable>>;

const named = (functionName: string): Invocable => ({
  functionName,
  functionArn: `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:function:${functionName}`,
});

/** The verifiers of a deployment. Their names are fixed, so that their callers need not be deployed after them. */
export const verifiersOf = (deployment: string): Verifiers => ({
  'verify-database-a': named(`${deployment}-verify-database-a`),
  'verify-database-b': named(`${deployment}-verify-database-b`),
});
