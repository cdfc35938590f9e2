import { DeployProblem } from '../../settings/deploy-problem.ts';

/** What a deployment is to do with settings that are deployed and were not given. */
export interface SettingOptions {
  /** They all stay. */
  readonly keep: boolean;
  /** The names of those that go. */
  readonly forget: readonly string[];
}

interface OwnOptions {
  readonly options: SettingOptions;
  /** A URI of MongoDB that cannot be tried from here is written all the same. */
  readonly untried: boolean;
  readonly rest: readonly string[];
}

/** Takes the deployment's own options (`--keep`, `--forget name`, `--untried`) out; the others are the CDK's. */
export const settingOptionsIn = (args: readonly string[]): OwnOptions => {
  const rest: string[] = [];
  const forget: string[] = [];
  let keep = false;
  let untried = false;
  for (let at = 0; at < args.length; at++) {
    const argument = args[at] ?? '';
    if (argument === '--keep') keep = true;
    else if (argument === '--untried') untried = true;
    else if (argument.startsWith('--forget=')) forget.push(argument.slice('--forget='.length));
    else if (argument === '--forget') {
      const name = args[++at];
      if (name === undefined) throw new DeployProblem('--forget needs the name of a setting after it.');
      forget.push(name);
    } else rest.push(argument);
  }
  return { options: { keep, forget }, untried, rest };
};
