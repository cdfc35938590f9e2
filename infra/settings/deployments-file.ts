import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as v from 'valibot';
import { DeployProblem } from './deploy-problem.ts';
import type { Choice } from './settings.ts';

/** The name of the file, beside `cdk.json`. It is the operator's own and not part of the repository. */
export const deploymentsFile = 'deployments.json';

const deployments = v.record(v.string(), v.record(v.string(), v.union([v.string(), v.number()])));

/** Settings by the name of the deployment that has them, as they are written: text or numbers. */
type Deployments = v.InferOutput<typeof deployments>;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What a file holds, nothing where there is none. One that cannot be used → `DeployProblem`. */
export const loadDeployments = (file: string): Deployments => {
  if (!existsSync(file)) return {};
  const parsed = v.safeParse(deployments, parse(readFileSync(file, 'utf8')));
  if (parsed.success) return parsed.output;
  throw new DeployProblem(
    `${deploymentsFile} must be JSON such as {"Basalt": {"alarmEmail": "ops@example.com", "mongoConnections": 1500}}`,
  );
};

/** Puts one deployment's settings in; those of others stay. */
export const writeDeployment = (file: string, deployment: string, settings: Choice): void => {
  const all = { ...loadDeployments(file), [deployment]: settings };
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
};
