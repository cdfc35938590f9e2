import { type Choice, type DeploymentSettings, settingsOf } from '../../settings/settings.ts';
import type { Target } from './check.ts';

/** The settings of a deployment, as one of its functions has them written down, with defaults for the others. */
export const deployedSettings = ({ environment }: Target): DeploymentSettings =>
  settingsOf(JSON.parse(environment.DEPLOYED_SETTINGS ?? '{}') as Choice);
