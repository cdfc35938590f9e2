import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { DeployProblem } from '../../settings/deploy-problem.ts';
import { filledSecrets } from '../../stacks/secrets.ts';
import type { UriTrial } from './try-uri.ts';

/** Outputs of the stack that holds the secrets: name → ARN. */
type SecretArns = Readonly<Record<string, string>>;

type Rule = (typeof filledSecrets)[keyof typeof filledSecrets];

interface SecretPlace {
  readonly arn: string;
  /** Without a profile, the credentials of the environment are used. */
  readonly profile: string | undefined;
}

/** The current version of a secret. */
interface SecretVersion {
  readonly value: string;
  readonly id: string | undefined;
  /** Its labels, such as `AWSCURRENT`. */
  readonly stages: readonly string[];
}

const clientOf = ({ arn, profile }: SecretPlace): SecretsManagerClient =>
  new SecretsManagerClient({ region: arn.split(':')[3] ?? '', ...(profile !== undefined && { profile }) });

const loadSecret = async (place: SecretPlace): Promise<SecretVersion> => {
  const command = new GetSecretValueCommand({ SecretId: place.arn });
  const { SecretString = '', VersionId, VersionStages = [] } = await clientOf(place).send(command);
  return { value: SecretString, id: VersionId, stages: VersionStages };
};

const putSecret = (place: SecretPlace, value: string) =>
  clientOf(place).send(new PutSecretValueCommand({ SecretId: place.arn, SecretString: value }));

const shapeProblem = ({ variable, description }: Rule): DeployProblem =>
  new DeployProblem(`${variable} has the wrong form. Expected: ${description} Nothing was changed.`);

const requireSet = ({ variable, shape, id }: Rule, { value }: SecretVersion): void => {
  if (shape.test(value)) return;
  throw new DeployProblem(
    [
      `The secret ${id} is not set, so the deployment stopped. Deploy again with its value:`,
      `  ${variable}='…' npm run deploy`,
    ].join('\n'),
  );
};

interface FillOptions {
  readonly profile: string | undefined;
  /** Tests a new MongoDB URI before any secret is changed; throws if it must not be stored. */
  readonly tryUri: (uri: string) => Promise<void>;
}

/**
 * Stores the secrets that the environment gives, and returns the names of those that changed; the others stay. Throws
 * `DeployProblem` before anything is stored if a value is malformed, the MongoDB URI does not work or a required secret
 * is missing. Values are never printed.
 */
export const fillSecrets = async (
  arns: SecretArns,
  environment: NodeJS.ProcessEnv,
  { profile, tryUri }: FillOptions,
): Promise<readonly string[]> => {
  const rules: readonly Rule[] = Object.values(filledSecrets);
  const given = rules.map((rule) => ({ rule, arn: arns[rule.output], value: environment[rule.variable]?.trim() }));
  for (const { rule, value } of given) if (value && !rule.shape.test(value)) throw shapeProblem(rule);
  const changes: { readonly id: string; readonly secret: SecretPlace; readonly value: string }[] = [];
  for (const { rule, arn, value } of given) {
    if (!arn) throw new DeployProblem(`The stack of the secrets has no output ${rule.output}.`);
    if (!(value || rule.required)) continue;
    const secret = { arn, profile };
    const current = await loadSecret(secret);
    if (!value) requireSet(rule, current);
    else if (value !== current.value) changes.push({ id: rule.id, secret, value });
  }
  const uri = changes.find(({ id }) => id === filledSecrets.mongodbSecret.id);
  if (uri) await tryUri(uri.value);
  for (const { secret, value } of changes) await putSecret(secret, value);
  return changes.map(({ id }) => id);
};

export interface UriRules {
  /** Functions are running, and a wrong URI would cut them off from the database. */
  readonly running: boolean;
  /** Store a URI even if this machine cannot test it. */
  readonly untried: boolean;
  readonly tryUri: (uri: string) => Promise<UriTrial>;
  readonly say: (line: string) => void;
}

/** Tests a new MongoDB URI. Throws `DeployProblem` if it is wrong, or untested while functions are running. */
export const requireUsableUri = async (uri: string, { running, untried, tryUri, say }: UriRules): Promise<void> => {
  const outcome = await tryUri(uri);
  if (outcome === 'works') return;
  if (outcome !== 'unreachable') {
    throw new DeployProblem(`MONGODB_URI does not work: ${outcome.problem}. The stored secret was not changed.`);
  }
  if (running && !untried) {
    throw new DeployProblem(
      [
        'MONGODB_URI could not be tested, because its servers do not respond to this machine. The stored secret was not changed.',
        'Check the URI and allow this machine to connect for a moment. To deploy without the test:  npm run deploy -- --untried',
      ].join('\n'),
    );
  }
  say('MONGODB_URI was not tested, because its servers do not respond to this machine.');
};

/** The label of the URI that was stored when a deployment last succeeded. */
const deployedStage = 'DEPLOYED';

/**
 * Labels the MongoDB URI of a successful deployment. Secrets Manager keeps only the previous version, except versions
 * with a label, so that an operator can go back to it.
 */
export const labelDeployedUri = async (arns: SecretArns, profile: string | undefined): Promise<void> => {
  const arn = arns[filledSecrets.mongodbSecret.output];
  if (arn === undefined) return;
  const { id, stages } = await loadSecret({ arn, profile });
  if (stages.includes(deployedStage)) return;
  const client = clientOf({ arn, profile });
  const { VersionIdsToStages = {} } = await client.send(new DescribeSecretCommand({ SecretId: arn }));
  const [before] = Object.entries(VersionIdsToStages).find(([, labels]) => labels.includes(deployedStage)) ?? [];
  await client.send(
    new UpdateSecretVersionStageCommand({
      SecretId: arn,
      VersionStage: deployedStage,
      MoveToVersionId: id,
      RemoveFromVersionId: before,
    }),
  );
};
