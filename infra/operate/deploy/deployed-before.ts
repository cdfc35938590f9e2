import { DeployProblem } from '../../settings/deploy-problem.ts';
import type { Choice } from '../../settings/settings.ts';
import type { Target } from '../doctor/check.ts';
import { environmentOf, functionsOf } from '../doctor/functions.ts';

/** What there is of a deployment before it is deployed again. */
interface DeployedBefore {
  /** True where it has functions. */
  readonly running: boolean;
  /** What it was last given, as one of its functions has it written down. */
  readonly settings: Choice;
}

/** Looks at the functions of a deployment; `DeployProblem` where AWS does not answer. */
export const deployedBefore = async (deployment: string, aws: Target['aws']): Promise<DeployedBefore> => {
  try {
    const functions = await functionsOf(deployment, aws);
    const { DEPLOYED_SETTINGS = '{}' } = environmentOf(functions);
    return { running: functions.length > 0, settings: JSON.parse(DEPLOYED_SETTINGS) as Choice };
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
