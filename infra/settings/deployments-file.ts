import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as v from 'valibot';
import { DeployProblem } from './deploy-problem.ts';
import type { Choice } from './settings.ts';

/** Next to `cdk.json`; ignored by git, because it belongs to the operator. */
export const deploymentsFile = 'deployments.json';

const deployments = v.record(v.string(), v.record(v.string(), v.union([v.string(), v.number()])));

/** Settings by deployment name; values are text or numbers. */
type Deployments = v.InferOutput<typeof deployments>;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the stored settings; an empty object if the file does not exist. Throws `DeployProblem` if it is malformed. */
export const loadDeployments = (file: string): Deployments => {
  if (!existsSync(file)) return {};
  const parsed = v.safeParse(deployments, parse(readFileSync(file, 'utf8')));
  if (parsed.success) return parsed.output;
  throw new DeployProblem(
    `${deploymentsFile} must be JSON such as {"Basalt": {"alarmEmail": "ops@example.com", "mongoConnections": 1500}}`,
  );
};

/** Replaces the settings of one deployment; those of others stay. */
export const writeDeployment = (file: string, deployment: string, settings: Choice): void => {
  const all = { ...loadDeployments(file), [deployment]: settings };
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
};
