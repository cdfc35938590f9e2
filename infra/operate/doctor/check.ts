import type { FunctionConfiguration } from '@aws-sdk/client-lambda';

/** How a check came out. */
export type Level = 'ok' | 'warning' | 'failed' | 'skipped';

/** One line of the doctor's report. */
export interface Finding {
  readonly name: string;
  readonly level: Level;
  /** What was found. */
  readonly detail: string;
  /** What to do about it. */
  readonly todo?: string;
}

export type Outcome = Omit<Finding, 'name'>;

/** A deployment, or the local stack, as the doctor sees it. */
export interface Target {
  readonly local: boolean;
  /** The name that everything of a deployment begins with; empty where it is the local stack. */
  readonly deployment: string;
  /** What the functions are told: every variable that any of them has. */
  readonly environment: Readonly<Record<string, string>>;
  /** The functions themselves; none where they run locally. */
  readonly functions: readonly FunctionConfiguration[];
  /** Region, profile and so on, for the clients of AWS. */
  readonly aws: { readonly region?: string; readonly profile?: string };
}

export interface Check {
  readonly name: string;
  /** For what the local stack has not. */
  readonly deployedOnly?: true;
  run(target: Target): Promise<Outcome>;
}

export const ok = (detail: string): Outcome => ({ level: 'ok', detail });
export const warning = (detail: string, todo: string): Outcome => ({ level: 'warning', detail, todo });
export const failed = (detail: string, todo: string): Outcome => ({ level: 'failed', detail, todo });

/** What a failure of AWS or a database says of itself; keys and URIs stand in none of these names. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { name, message, cause } = error as Error & { readonly cause?: { readonly code?: unknown } };
  const why = cause?.code === undefined ? '' : ` (${String(cause.code)})`;
  return `${name}: ${message.replaceAll(/\w+(?:\+srv)?:\/\/\S+/g, '…')}${why}`;
};

/** A setting that a check cannot do without. */
export const setting = ({ environment }: Target, name: string): string => {
  const value = environment[name];
  if (value) return value;
  throw new Error(`No function has the setting ${name}`);
};

/** Runs checks one after the other; one that cannot be made has failed. */
export const examine = async function* (target: Target, checks: readonly Check[]): AsyncGenerator<Finding> {
  for (const { name, deployedOnly, run } of checks) {
    if (deployedOnly && target.local) {
      yield { name, level: 'skipped', detail: 'is for deployments' };
      continue;
    }
    try {
      yield { name, ...(await run(target)) };
    } catch (error) {
      yield { name, ...failed(reasonOf(error), 'See that the credentials may look at this, and that it is there.') };
    }
  }
};
