import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DeployProblem } from '../deploy-problem.ts';
import { filledSecrets } from '../secrets.ts';

/** The outputs of the stack that holds the secrets: name → ARN. */
export type SecretArns = Readonly<Record<string, string>>;

type Rule = (typeof filledSecrets)[keyof typeof filledSecrets];

/** A secret, and the AWS profile whose credentials reach it; without one those of the environment do. */
interface Secret {
  readonly arn: string;
  readonly profile: string | undefined;
}

const clientOf = ({ arn, profile }: Secret): SecretsManagerClient =>
  new SecretsManagerClient({ region: arn.split(':')[3] ?? '', ...(profile !== undefined && { profile }) });

const read = async (secret: Secret): Promise<string> => {
  const { SecretString = '' } = await clientOf(secret).send(new GetSecretValueCommand({ SecretId: secret.arn }));
  return SecretString;
};

const refuseShape = ({ variable, description }: Rule): never => {
  throw new DeployProblem(`${variable} does not look like what it should be: ${description} Nothing was changed.`);
};

/** Puts in what the environment holds, where it differs; returns whether it did. */
const fill = async (secret: Secret, value: string): Promise<boolean> => {
  if ((await read(secret)) === value) return false;
  await clientOf(secret).send(new PutSecretValueCommand({ SecretId: secret.arn, SecretString: value }));
  return true;
};

const requireFilled = async ({ variable, shape, id }: Rule, secret: Secret): Promise<void> => {
  if (shape.test(await read(secret))) return;
  throw new DeployProblem(
    [
      `The secret ${id} has not been filled, so nothing that needs it was deployed. Deploy again with it:`,
      `  ${variable}='…' npm run deploy`,
    ].join('\n'),
  );
};

/**
 * Fills the secrets of a deployment from environment variables, with the credentials of an AWS profile or else those of
 * the environment; what is not given stays as it is. Returns those that changed. Throws `DeployProblem` where a value
 * has not the form of what it should be, before any is put in, and where one is missing that the service cannot do
 * without. Values are never printed.
 */
export const fillSecrets = async (
  arns: SecretArns,
  environment: NodeJS.ProcessEnv,
  profile?: string,
): Promise<readonly string[]> => {
  const rules: readonly Rule[] = Object.values(filledSecrets);
  const given = rules.map((rule) => ({ rule, arn: arns[rule.output], value: environment[rule.variable]?.trim() }));
  for (const { rule, value } of given) if (value && !rule.shape.test(value)) refuseShape(rule);
  const changed: string[] = [];
  for (const { rule, arn, value } of given) {
    if (!arn) throw new DeployProblem(`The stack of the secrets has no output ${rule.output}`);
    const secret = { arn, profile };
    if (value && (await fill(secret, value))) changed.push(rule.id);
    else if (!value && rule.required) await requireFilled(rule, secret);
  }
  return changed;
};
