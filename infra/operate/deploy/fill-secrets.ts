import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { DeployProblem } from '../../settings/deploy-problem.ts';
import { filledSecrets } from '../../stacks/secrets.ts';
import { loadSecret, type SecretPlace, type SecretVersion, secretsClient } from './secret-version.ts';

/** The outputs of the stack that holds the secrets: name → ARN. */
export type SecretArns = Readonly<Record<string, string>>;

type Rule = (typeof filledSecrets)[keyof typeof filledSecrets];

const refuseShape = ({ variable, description }: Rule): never => {
  throw new DeployProblem(`${variable} does not look like what it should be: ${description} Nothing was changed.`);
};

const put = (place: SecretPlace, value: string) =>
  secretsClient(place).send(new PutSecretValueCommand({ SecretId: place.arn, SecretString: value }));

const requireFilled = ({ variable, shape, id }: Rule, { value }: SecretVersion): void => {
  if (shape.test(value)) return;
  throw new DeployProblem(
    [
      `The secret ${id} has not been filled, so nothing that needs it was deployed. Deploy again with it:`,
      `  ${variable}='…' npm run deploy`,
    ].join('\n'),
  );
};

interface FillOptions {
  /** The AWS profile whose credentials are used; without one those of the environment are. */
  readonly profile: string | undefined;
  /** Tries a new URI of MongoDB before any secret is changed; throws for one that is not to be written. */
  readonly tryUri: (uri: string) => Promise<void>;
}

/**
 * Fills the secrets of a deployment from environment variables; what is not given stays as it is. Returns those that
 * changed. Throws `DeployProblem`, before any is put in, where a value has not the form of what it should be, where a
 * URI does not lead to a database, and where one is missing that the service cannot do without. Values are never
 * printed.
 */
export const fillSecrets = async (
  arns: SecretArns,
  environment: NodeJS.ProcessEnv,
  { profile, tryUri }: FillOptions,
): Promise<readonly string[]> => {
  const rules: readonly Rule[] = Object.values(filledSecrets);
  const given = rules.map((rule) => ({ rule, arn: arns[rule.output], value: environment[rule.variable]?.trim() }));
  for (const { rule, value } of given) if (value && !rule.shape.test(value)) refuseShape(rule);
  const changes: { readonly id: string; readonly secret: SecretPlace; readonly value: string }[] = [];
  for (const { rule, arn, value } of given) {
    if (!arn) throw new DeployProblem(`The stack of the secrets has no output ${rule.output}`);
    if (!(value || rule.required)) continue;
    const secret = { arn, profile };
    const current = await loadSecret(secret);
    if (!value) requireFilled(rule, current);
    else if (value !== current.value) changes.push({ id: rule.id, secret, value });
  }
  const uri = changes.find(({ id }) => id === filledSecrets.mongodbSecret.id);
  if (uri) await tryUri(uri.value);
  for (const { secret, value } of changes) await put(secret, value);
  return changes.map(({ id }) => id);
};
