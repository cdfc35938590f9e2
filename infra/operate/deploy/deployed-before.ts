import { DeployProblem } from '../../settings/deploy-problem.ts';
import type { Choice } from '../../settings/settings.ts';
import type { Target } from '../doctor/check.ts';
import { environmentOf, functionsOf } from '../doctor/functions.ts';

/** What there is of a deployment before it is deployed again. */
export interface DeployedBefore {
  /** True where it has functions. */
  readonly running: boolean;
  /** What it was last given, as one of its functions has it written down. */
  readonly settings: Choice;
  /** `cloudFront` of it; `undefined` if it was never deployed to its end. */
  readonly cloudFront: unknown;
}

/** Looks at the functions of a deployment; `DeployProblem` where AWS does not answer. */
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
        `AWS did not say what is deployed (${reason}).`,
        'See that `aws sts get-caller-identity` answers, with the same --profile, and set AWS_REGION.',
      ].join('\n'),
    );
  }
};
