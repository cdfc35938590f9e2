import type { PlanName } from './project.ts';

const MiB = 1024 * 1024;

/** What a plan allows; `null` means no limit. */
export interface Plan {
  readonly databaseBytes: number;
  readonly storageBytes: number;
  /** Sizes of pictures that are kept for a project: a cache, in which the oldest make room. */
  readonly variantBytes: number;
  /** What one user of a project may have in its storage, reservations included; the secret key is not bound by it. */
  readonly userStorageBytes: number;
  readonly userFiles: number;
  /** Uploads of a user that are not confirmed. */
  readonly userReservations: number;
  readonly mailsPerMonth: number;
  /** Addresses that mails of all projects of an owner may go to a month with the shared key. */
  readonly recipientsPerMonth: number;
  /** Mails of user accounts that a project may send a day with the shared key. */
  readonly accountMailsPerDay: number;
  /** Of the schema assistant, a month and project. */
  readonly proposals: number;
  readonly users: number | null;
  readonly collections: number | null;
  readonly projects: number;
  /** Of a project's kept exports: several times what the database of the plan holds, as JSON takes more room. */
  readonly exportBytes: number;
  /** Exports and imports of a project that have not ended. */
  readonly transfers: number;
  /** Of a project. */
  readonly webhooks: number;
}

/** The plans, set per developer by the operator. */
export const plans: Readonly<Record<PlanName, Plan>> = {
  free: {
    databaseBytes: 50 * MiB,
    storageBytes: 20 * MiB,
    variantBytes: 20 * MiB,
    userStorageBytes: 10 * MiB,
    userFiles: 500,
    userReservations: 20,
    mailsPerMonth: 25,
    recipientsPerMonth: 100,
    accountMailsPerDay: 300,
    proposals: 20,
    users: 200,
    collections: 5,
    projects: 3,
    exportBytes: 1024 * MiB,
    transfers: 3,
    webhooks: 5,
  },
  pro: {
    databaseBytes: 5 * 1024 * MiB,
    storageBytes: 10 * 1024 * MiB,
    variantBytes: 5 * 1024 * MiB,
    userStorageBytes: 1024 * MiB,
    userFiles: 10_000,
    userReservations: 20,
    mailsPerMonth: 1000,
    recipientsPerMonth: 20_000,
    accountMailsPerDay: 3000,
    proposals: 200,
    users: null,
    collections: null,
    projects: 20,
    exportBytes: 20 * 1024 * MiB,
    transfers: 10,
    webhooks: 50,
  },
};
