import { DeployProblem } from '../../settings/deploy-problem.ts';
import { profileIn, sideBySide } from './deployment-name.ts';
import { farewell, type Outputs } from './farewell.ts';
import { fillSecrets } from './fill-secrets.ts';
import { keepUri } from './keep-uri.ts';
import { requireUsableUri, type UriRules } from './require-usable-uri.ts';

/** What a deployment is made of, so that its order can be tried without an account. */
interface DeployTools extends UriRules {
  /** The deployment's name, the prefix of its stacks. */
  readonly deployment: string;
  /** Requests in 15 minutes from one address. */
  readonly rateLimit: number;
  /** Runs the CDK with these arguments; rejects where it fails. */
  readonly cdk: (args: readonly string[]) => Promise<void>;
  /** What is known of a failure of the CDK, as lines for the operator. */
  readonly explain: () => Promise<readonly string[]>;
  /** A file that the CDK can write outputs to, and what it then holds. */
  readonly outputsFile: string;
  readonly readOutputs: () => Promise<Outputs>;
  readonly environment: NodeJS.ProcessEnv;
  /** Makes the pages of the console for a public API, and puts them into a bucket. */
  readonly putConsole: (bucket: string, publicApi: string) => Promise<void>;
}

/** The doctor's options, where it would otherwise look at another deployment. */
const doctorOptions = (deployment: string, profile: string | undefined): readonly string[] => [
  ...(deployment === 'Basalt' ? [] : ['--deployment', deployment]),
  ...(profile === undefined ? [] : ['--profile', profile]),
];

/**
 * Deploys everything: first the stack of the table and the secrets, then what the environment holds goes into the
 * secrets, then all other stacks, one of which makes the indexes of the control database and needs its URI, then the
 * pages of the console. Ends with the addresses of what was deployed. `args` go to the CDK.
 */
export const deploy = async (args: readonly string[], tools: DeployTools): Promise<void> => {
  const { deployment, running, rateLimit, cdk, explain, outputsFile, readOutputs, environment, putConsole, say } =
    tools;
  const secretsStack = `${deployment}-Data`;
  const profile = profileIn(args);
  await cdk(['deploy', secretsStack, '--outputs-file', outputsFile, ...args]);
  const arns = (await readOutputs())[secretsStack] ?? {};
  const changed = await fillSecrets(arns, environment, { profile, tryUri: (uri) => requireUsableUri(uri, tools) });
  if (changed.length > 0 && running) {
    say(
      `New: ${changed.join(', ')}. Functions that are running read them once they start anew: -c restart=<any new text>`,
    );
  }
  try {
    await cdk(['deploy', '--all', ...sideBySide(args), '--outputs-file', outputsFile, ...args]);
  } catch (error) {
    const known = error instanceof DeployProblem ? await explain() : [];
    throw known.length === 0 ? error : new DeployProblem(known.join('\n'), { cause: error });
  }
  await keepUri(arns, profile);
  const outputs = await readOutputs();
  const { Bucket = '', PublicApi = '' } = outputs[`${deployment}-Console`] ?? {};
  await putConsole(Bucket, PublicApi);
  const options = doctorOptions(deployment, profile);
  for (const line of farewell(deployment, outputs, { rateLimit, options })) say(line);
};
