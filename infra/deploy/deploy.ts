import { profileIn } from './deployment-name.ts';
import { fillSecrets, type SecretArns } from './fill-secrets.ts';

/** What a deployment is made of, so that its order can be tried without an account. */
export interface DeployTools {
  /** The deployment's name, the prefix of its stacks. */
  readonly deployment: string;
  /** Runs the CDK with these arguments; rejects where it fails. */
  readonly cdk: (args: readonly string[]) => Promise<void>;
  /** A file that the CDK can write outputs to, and what it then holds: stack → output → value. */
  readonly outputsFile: string;
  readonly readOutputs: () => Promise<Readonly<Record<string, SecretArns>>>;
  readonly environment: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

/**
 * Deploys everything: first the stack of the table and the secrets, then what the environment holds goes into the
 * secrets, then all other stacks, one of which makes the indexes of the control database and needs its URI. `args` go
 * to the CDK.
 */
export const deploy = async (args: readonly string[], tools: DeployTools): Promise<void> => {
  const { deployment, cdk, outputsFile, readOutputs, environment, say } = tools;
  const secretsStack = `${deployment}-Data`;
  await cdk(['deploy', secretsStack, '--outputs-file', outputsFile, ...args]);
  const changed = await fillSecrets((await readOutputs())[secretsStack] ?? {}, environment, profileIn(args));
  if (changed.length > 0) {
    say(
      `New: ${changed.join(', ')}. Functions that are running read them once they start anew: -c restart=<any new text>`,
    );
  }
  await cdk(['deploy', '--all', ...args]);
};
