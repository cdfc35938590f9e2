import { styleText } from 'node:util';
import type { FunctionConfiguration } from '@aws-sdk/client-lambda';

type Level = 'ok' | 'warning' | 'failed' | 'skipped';

/** One line of the doctor's report. */
export interface Finding {
  readonly name: string;
  readonly level: Level;
  readonly detail: string;
  /** How to fix it. */
  readonly todo?: string;
}

export type Outcome = Omit<Finding, 'name'>;

/** A deployment, or the local service, as the doctor sees it. */
export interface Target {
  readonly local: boolean;
  /** The prefix of the deployment's stacks and functions; empty for the local service. */
  readonly deployment: string;
  /** Every environment variable that any function has. */
  readonly environment: Readonly<Record<string, string>>;
  /** Empty for the local service. */
  readonly functions: readonly FunctionConfiguration[];
  /** Options for AWS clients. */
  readonly aws: { readonly region?: string; readonly profile?: string };
}

export interface Check {
  readonly name: string;
  /** The local service has no such part. */
  readonly deployedOnly?: true;
  run(target: Target): Promise<Outcome>;
}

export const ok = (detail: string): Outcome => ({ level: 'ok', detail });
export const warning = (detail: string, todo: string): Outcome => ({ level: 'warning', detail, todo });
export const failed = (detail: string, todo: string): Outcome => ({ level: 'failed', detail, todo });

/** The error in words, without URIs, which may hold passwords. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { name, message, cause } = error as Error & { readonly cause?: { readonly code?: unknown } };
  const why = cause?.code === undefined ? '' : ` (${String(cause.code)})`;
  return `${name}: ${message.replaceAll(/\w+(?:\+srv)?:\/\/\S+/g, '…')}${why}`;
};

/** Returns a variable that a check needs; throws if no function has it. */
export const setting = ({ environment }: Target, name: string): string => {
  const value = environment[name];
  if (value) return value;
  throw new Error(`No function has the setting ${name}`);
};

/** Runs the checks one after the other. A check that throws has failed. */
export const examine = async function* (target: Target, checks: readonly Check[]): AsyncGenerator<Finding> {
  for (const { name, deployedOnly, run } of checks) {
    if (deployedOnly && target.local) {
      yield { name, level: 'skipped', detail: 'only checked for deployments' };
      continue;
    }
    try {
      yield { name, ...(await run(target)) };
    } catch (error) {
      yield { name, ...failed(reasonOf(error), 'Check that it exists and that your credentials may read it.') };
    }
  }
};

const colours = { ok: 'green', warning: 'yellow', failed: 'red', skipped: 'dim' } as const;

/** A finding as one line, and the fix on a second one. */
export const lineOf = ({ name, level, detail, todo }: Finding): string => {
  const line = `${styleText(colours[level], level.padEnd(8))} ${name}: ${detail}`;
  return todo === undefined ? line : `${line}\n${' '.repeat(9)}${styleText('dim', todo)}`;
};

/** The findings counted by level: `21 ok, 1 warning, 0 failed, 3 skipped`. */
export const summaryOf = (findings: readonly Finding[]): string => {
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  const warnings = count('warning');
  const skipped = count('skipped');
  const checked = `${count('ok')} ok, ${warnings} warning${warnings === 1 ? '' : 's'}, ${count('failed')} failed`;
  return skipped === 0 ? checked : `${checked}, ${skipped} skipped`;
};
