import type { PlanName } from './project.ts';

const MiB = 1024 * 1024;

/** What a plan allows; `null` means no limit. */
export interface Plan {
  readonly databaseBytes: number;
  readonly storageBytes: number;
  readonly mailsPerMonth: number;
  /** Of the schema assistant, a month and project. */
  readonly proposals: number;
  readonly users: number | null;
  readonly collections: number | null;
  readonly projects: number;
}

/** The plans, set per developer by the operator. */
export const plans: Readonly<Record<PlanName, Plan>> = {
  free: {
    databaseBytes: 50 * MiB,
    storageBytes: 20 * MiB,
    mailsPerMonth: 25,
    proposals: 20,
    users: 200,
    collections: 5,
    projects: 3,
  },
  pro: {
    databaseBytes: 5 * 1024 * MiB,
    storageBytes: 10 * 1024 * MiB,
    mailsPerMonth: 1000,
    proposals: 200,
    users: null,
    collections: null,
    projects: 20,
  },
};
