import { DeployProblem } from '../../settings/deploy-problem.ts';
import type { Choice } from '../../settings/settings.ts';
import type { Target } from '../doctor/check.ts';
import { environmentOf, functionsOf } from '../doctor/functions.ts';

/** The state of a deployment before it is deployed again. */
export interface DeployedBefore {
  /** True if it has functions. */
  readonly running: boolean;
  /** The settings of the last deployment, which one function has in its environment. */
  readonly settings: Choice;
  /** The setting `cloudFront`; `undefined` if no deployment has finished. */
  readonly cloudFront: unknown;
}

/** Reads the state from the deployment's functions. Throws `DeployProblem` if AWS does not respond. */
export const deployedBefore = async (deployment: string, aws: Target['aws']): Promise<DeployedBefore> => {
  try {
    const functions = await functionsOf(deployment, aws);
    const { DEPLOYED_SETTINGS: written } = environmentOf(functions);
    const settings = JSON.parse(written ?? '{}') as Choice;
    const cloudFront = written === undefined ? undefined : (settings.cloudFront ?? 'on');
    return { running: functions.length > 0, settings, cloudFront };
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new DeployProblem(
      [
        `The functions of the deployment could not be listed (${reason}).`,
        'Set AWS_REGION, and check that `aws sts get-caller-identity` works with the same --profile.',
      ].join('\n'),
    );
  }
};
