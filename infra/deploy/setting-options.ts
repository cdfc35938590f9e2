import { DeployProblem } from '../deploy-problem.ts';

/** What a deployment is to do with settings that are deployed and were not given. */
export interface SettingOptions {
  /** They all stay. */
  readonly keep: boolean;
  /** The names of those that go. */
  readonly forget: readonly string[];
}

/** Takes the deployment's own options (`--keep`, `--forget name`) out of the arguments; the others are the CDK's. */
export const settingOptionsIn = (
  args: readonly string[],
): { readonly options: SettingOptions; readonly rest: readonly string[] } => {
  const rest: string[] = [];
  const forget: string[] = [];
  let keep = false;
  for (let at = 0; at < args.length; at++) {
    const argument = args[at] ?? '';
    if (argument === '--keep') keep = true;
    else if (argument.startsWith('--forget=')) forget.push(argument.slice('--forget='.length));
    else if (argument === '--forget') {
      const name = args[++at];
      if (name === undefined) throw new DeployProblem('--forget needs the name of a setting after it.');
      forget.push(name);
    } else rest.push(argument);
  }
  return { options: { keep, forget }, rest };
};
