import { randomBytes } from 'node:crypto';
import { insertDeveloper, setPlan } from '../../../../shared/accounts/developers/developers.ts';
import { newSigningKey } from '../../../../shared/accounts/tokens.ts';
import { createCollection } from '../../../../shared/collections/create-collection.ts';
import { AppError, statusOf } from '../../../../shared/core/errors.ts';
import { createProject } from '../../../../shared/projects/create-project.ts';
import { findOwnedProject, type OwnedProject } from '../../../../shared/projects/find-project.ts';
import type { PlanName, Project } from '../../../../shared/projects/project.ts';
import type { StepFault } from '../../faults/step-faults.ts';
import type { World } from './world.ts';

/** One run of an operation, ready to begin. */
export interface Prepared {
  /** The projects that are recounted afterwards. */
  readonly projectIds: readonly string[];
  /** Does it, and answers the status that the caller sees. */
  readonly act: () => Promise<number>;
  /**
   * Where the caller was not told that it is done: sends it again, with everything healthy; fails where that is no use.
   */
  readonly again?: () => Promise<void>;
  /** Whatever else happens in the two hours after it. */
  readonly later?: () => Promise<unknown>;
  /**
   * Fails where an effect is missing, or there twice, after the jobs have run. `done`: the caller was told so, the
   * first time or again.
   */
  readonly verify: (done: boolean) => Promise<void>;
}

/** An operation of several steps, any of which can be interrupted. */
export interface Operation {
  readonly name: string;
  /** Statuses that mean neither that it is done nor 503. */
  readonly refusals?: readonly number[];
  /** The faults that it meets; all where left out. */
  readonly faults?: readonly StepFault[];
  readonly prepare: (world: World) => Promise<Prepared>;
}

/** The status that a route would answer for what a domain function does. */
export const statusFor = async (act: () => Promise<unknown>): Promise<number> => {
  try {
    await act();
    return 200;
  } catch (error) {
    if (error instanceof AppError) return statusOf[error.code];
    throw error;
  }
};

/** A run of a job: whatever it throws, the next run carries on. */
export const runOf = async (act: () => Promise<unknown>): Promise<number> => {
  try {
    await act();
    return 200;
  } catch {
    return 503;
  }
};

export const requireStatus = (what: string, status: number, ...allowed: readonly number[]): void => {
  if (!allowed.includes(status)) throw new Error(`${what} answered ${status}`);
};

export const requireEqual = (what: string, actual: unknown, ...allowed: readonly unknown[]): void => {
  const found = JSON.stringify(actual);
  if (!allowed.some((value) => JSON.stringify(value) === found)) {
    throw new Error(`${what}: ${found} and not ${allowed.map((value) => JSON.stringify(value)).join(' or ')}`);
  }
};

export const newAddress = (): string => `${randomBytes(8).toString('hex')}@example.com`;

/** A developer's project, made without any gateway. */
export interface OwnProject {
  readonly id: string;
  readonly project: Project;
  readonly ownerId: string;
  readonly secretKey: string;
  readonly publishableKey: string;
  /** As it is now. */
  readonly owned: () => Promise<OwnedProject>;
}

const usersSchema = [
  { key: 'email', type: 'String', required: true, unique: true },
  { key: 'password', type: 'String', required: true },
];

export const newOwner = async (plan: PlanName = 'free'): Promise<{ readonly id: string; readonly plan: PlanName }> => {
  const email = newAddress();
  const identity = { hasPassword: true, emailVerified: true, identities: [] };
  const { _id } = await insertDeveloper({ email, passwordHash: 'none', ...identity });
  if (plan !== 'free') await setPlan(email, plan);
  return { id: _id.toHexString(), plan };
};

export const makeProject = async (
  collections: readonly string[] = [],
  plan: PlanName = 'free',
): Promise<OwnProject> => {
  const owner = await newOwner(plan);
  const settings = { name: 'interrupted', siteUrl: 'https://app.example.com', authEnabled: true };
  const { _id: id, secretKey, publishableKey } = await createProject(owner, settings, newSigningKey);
  const owned = async (): Promise<OwnedProject> => {
    const found = await findOwnedProject(owner.id, id);
    if (!found) throw new Error('The project is gone');
    return found;
  };
  const { project } = await owned();
  for (const name of collections) {
    await createCollection(project, name, { schema: name === 'users' ? usersSchema : null });
  }
  return { id, project, ownerId: owner.id, secretKey, publishableKey, owned };
};
