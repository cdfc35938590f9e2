import { DeployProblem } from '../../settings/deploy-problem.ts';
import { type Choice, type DeploymentSettings, settingNames, settingsOf } from '../../settings/settings.ts';
import type { SettingOptions } from './setting-options.ts';

/** Where settings of one deployment stand, the weakest first. */
export interface SettingSources {
  /** What its functions were last deployed with. */
  readonly deployed: Choice;
  /** What `cdk.json` says. */
  readonly repository: Choice;
  /** What `deployments.json` says. */
  readonly file: Choice;
  /** What is given now. */
  readonly commandLine: Choice;
}

/** These say what to deploy or do now, and not how it is to be. */
const passing = ['deployment', 'restart'];

const without = (choice: Choice, names: readonly string[]): Choice =>
  Object.fromEntries(Object.entries(choice).filter(([name]) => !names.includes(name)));

/** A later release may have had others, which cannot be kept. */
const known = (choice: Choice): Choice =>
  Object.fromEntries(Object.entries(choice).filter(([name]) => settingNames.includes(name)));

const refuseUnknown = (names: readonly string[]): void => {
  const unknown = names.find((name) => !settingNames.includes(name));
  if (unknown !== undefined) {
    throw new DeployProblem(`Unknown deployment setting ${unknown}; see docs/operate/configure.md`);
  }
};

const refuseForgetting = ({ repository, commandLine }: SettingSources, forget: readonly string[]): void => {
  for (const name of forget) {
    if (name in commandLine) throw new DeployProblem(`${name} cannot be given and forgotten in one command.`);
    if (name in repository) throw new DeployProblem(`${name} stands in cdk.json; take it out there.`);
  }
};

const refuseLosses = (deployed: Choice, kept: readonly string[]): void => {
  const lost = Object.entries(deployed).filter(([name]) => !kept.includes(name));
  if (lost.length === 0) return;
  const [[first] = ['']] = lost;
  throw new DeployProblem(
    [
      'Nothing was deployed, as these settings of the deployment were not given and would be lost:',
      ...lost.map(([name, value]) => `  ${name}=${String(value)}`),
      'To keep them, and write them into deployments.json:  npm run deploy -- --keep',
      `To do without one, once for each:  npm run deploy -- --forget ${first}`,
    ].join('\n'),
  );
};

/**
 * What `deployments.json` is to say of a deployment: what it said, what is given now and, where asked, what is deployed
 * and stands nowhere, less what is to be forgotten. `DeployProblem` where a setting that is deployed would be lost
 * without a word, or where one is none, cannot be used, or contradicts another.
 */
export const agreeSettings = (sources: SettingSources, { keep, forget }: SettingOptions): Choice => {
  const { repository, file, commandLine } = sources;
  refuseUnknown([...forget.filter((name) => !(name in sources.deployed)), ...Object.keys(commandLine)]);
  refuseForgetting(sources, forget);
  const deployed = without(sources.deployed, passing);
  const own = {
    ...(keep && known(without(deployed, Object.keys(repository)))),
    ...file,
    ...without(commandLine, passing),
  };
  const remembered = without(own, forget);
  const given = { ...repository, ...remembered };
  refuseLosses(deployed, [...Object.keys(given), ...forget]);
  settingsOf({ ...given, ...commandLine });
  return remembered;
};

/**
 * Refuses another `cloudFront` than the deployed one, except adding it: the stacks import addresses of each other, and
 * those that readers know would be lost.
 */
export const refuseCloudFrontChange = (deployed: unknown, wanted: DeploymentSettings['cloudFront']): void => {
  if (deployed === undefined || deployed === wanted || (deployed === 'off' && wanted === 'added')) return;
  throw new DeployProblem(
    deployed === 'off'
      ? 'This deployment has no CloudFront. To add it and keep its addresses:  npm run deploy -- -c cloudFront=added'
      : `This deployment has CloudFront, which cannot be removed or recreated. Deploy with cloudFront=${String(deployed)}, as before.`,
  );
};
