import { DeployProblem } from '../../settings/deploy-problem.ts';
import { type Choice, type DeploymentSettings, settingNames, settingsOf } from '../../settings/settings.ts';
import type { SettingOptions } from './arguments.ts';

/** The sources of a deployment's settings, from the lowest to the highest priority. */
export interface SettingSources {
  /** The settings of the last deployment. */
  readonly deployed: Choice;
  /** `cdk.json` */
  readonly repository: Choice;
  /** `deployments.json` */
  readonly file: Choice;
  readonly commandLine: Choice;
}

/** Settings for one run, which are not stored. */
const oneTimeSettings = ['deployment', 'restart'];

const without = (choice: Choice, names: readonly string[]): Choice =>
  Object.fromEntries(Object.entries(choice).filter(([name]) => !names.includes(name)));

/** A later release may have had settings that this one does not know. */
const known = (choice: Choice): Choice =>
  Object.fromEntries(Object.entries(choice).filter(([name]) => settingNames.includes(name)));

const requireKnown = (names: readonly string[]): void => {
  const unknown = names.find((name) => !settingNames.includes(name));
  if (unknown !== undefined) {
    throw new DeployProblem(`Unknown deployment setting ${unknown}; docs/reference/settings.md lists them.`);
  }
};

const requireForgettable = ({ repository, commandLine }: SettingSources, forget: readonly string[]): void => {
  for (const name of forget) {
    if (name in commandLine) throw new DeployProblem(`${name} cannot be set and forgotten in one command.`);
    if (name in repository) throw new DeployProblem(`${name} is set in cdk.json; remove it there.`);
  }
};

const requireNoLoss = (deployed: Choice, kept: readonly string[]): void => {
  const lost = Object.entries(deployed).filter(([name]) => !kept.includes(name));
  if (lost.length === 0) return;
  const [[first] = ['']] = lost;
  throw new DeployProblem(
    [
      'Nothing was deployed. These settings of the deployment were not given and would be lost:',
      ...lost.map(([name, value]) => `  ${name}=${String(value)}`),
      'To keep all of them and store them in deployments.json:  npm run deploy -- --keep',
      `To reset one to its default (repeat the option for more):  npm run deploy -- --forget ${first}`,
    ].join('\n'),
  );
};

/**
 * Returns the settings to store in `deployments.json`: the stored ones and the given ones, with `keep` also the deployed
 * ones, without the forgotten ones. Throws `DeployProblem` if a deployed setting would be lost, or if one is unknown,
 * invalid or contradicts another.
 */
export const resolveSettings = (sources: SettingSources, { keep, forget }: SettingOptions): Choice => {
  const { repository, file, commandLine } = sources;
  requireKnown([...forget.filter((name) => !(name in sources.deployed)), ...Object.keys(commandLine)]);
  requireForgettable(sources, forget);
  const deployed = without(sources.deployed, oneTimeSettings);
  const all = {
    ...(keep && known(without(deployed, Object.keys(repository)))),
    ...file,
    ...without(commandLine, oneTimeSettings),
  };
  const stored = without(all, forget);
  const given = { ...repository, ...stored };
  requireNoLoss(deployed, [...Object.keys(given), ...forget]);
  settingsOf({ ...given, ...commandLine });
  return stored;
};

/**
 * Rejects a change of `cloudFront`, except adding it. The stacks import addresses from each other, and addresses that
 * are already in use would be lost.
 */
export const requireSameCloudFront = (deployed: unknown, wanted: DeploymentSettings['cloudFront']): void => {
  if (deployed === undefined || deployed === wanted || (deployed === 'off' && wanted === 'added')) return;
  throw new DeployProblem(
    deployed === 'off'
      ? 'This deployment has no CloudFront. To add it and keep its addresses:  npm run deploy -- -c cloudFront=added'
      : `This deployment has CloudFront, which cannot be removed or recreated. Deploy with cloudFront=${String(deployed)}, as before.`,
  );
};
