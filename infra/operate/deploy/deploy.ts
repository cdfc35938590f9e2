import { DeployProblem } from '../../settings/deploy-problem.ts';
import { concurrencyOptions, profileIn } from './arguments.ts';
import { nextSteps, type Outputs } from './next-steps.ts';
import { fillSecrets, labelDeployedUri, requireUsableUri, type UriRules } from './secrets.ts';

/** The steps of a deployment, which tests replace. */
interface DeployTools extends UriRules {
  /** The deployment's name, the prefix of its stacks. */
  readonly deployment: string;
  readonly rateLimit: number;
  /** Runs the CDK; rejects if it fails. */
  readonly cdk: (args: readonly string[]) => Promise<void>;
  /** Explains a failure of the CDK, or returns no lines if the reason is unknown. */
  readonly explain: () => Promise<readonly string[]>;
  /** The file that the CDK writes outputs to. */
  readonly outputsFile: string;
  readonly readOutputs: () => Promise<Outputs>;
  readonly environment: NodeJS.ProcessEnv;
  /** Builds the console for a public API and uploads it. */
  readonly putConsole: (bucket: string, publicApi: string) => Promise<void>;
}

const doctorOptionsFor = (deployment: string, profile: string | undefined): readonly string[] => [
  ...(deployment === 'Basalt' ? [] : ['--deployment', deployment]),
  ...(profile === undefined ? [] : ['--profile', profile]),
];

/**
 * Deploys the data stack, sets the secrets that it holds, then deploys all other stacks and uploads the console. The
 * secrets come first because one stack creates indexes in MongoDB and needs its URI. `args` are passed to the CDK.
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
      `Changed secrets: ${changed.join(', ')}. Running functions keep the old values until they restart: npm run deploy -- -c restart=<any new text>`,
    );
  }
  try {
    await cdk(['deploy', '--all', ...concurrencyOptions(args), '--outputs-file', outputsFile, ...args]);
  } catch (error) {
    const known = error instanceof DeployProblem ? await explain() : [];
    throw known.length === 0 ? error : new DeployProblem(known.join('\n'), { cause: error });
  }
  await labelDeployedUri(arns, profile);
  const outputs = await readOutputs();
  const { Bucket = '', PublicApi = '' } = outputs[`${deployment}-Console`] ?? {};
  await putConsole(Bucket, PublicApi);
  const doctorOptions = doctorOptionsFor(deployment, profile);
  for (const line of nextSteps(deployment, outputs, { rateLimit, doctorOptions })) say(line);
};
