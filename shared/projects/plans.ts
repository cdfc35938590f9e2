import type { PlanName } from './project.ts';

const MiB = 1024 * 1024;

/** `null` means no limit. */
export interface Plan {
  readonly databaseBytes: number;
  readonly storageBytes: number;
  readonly variantBytes: number;
  /** Per user, including reservations; the secret key has no such limit. */
  readonly userStorageBytes: number;
  readonly userFiles: number;
  readonly userReservations: number;
  readonly mailsPerMonth: number;
  /** Distinct recipients per owner and month, with the shared mail key. */
  readonly recipientsPerMonth: number;
  /** Emails of user accounts per project and day, with the shared mail key. */
  readonly accountMailsPerDay: number;
  /** Of the schema assistant, per project and month. */
  readonly proposals: number;
  readonly users: number | null;
  readonly collections: number | null;
  readonly projects: number;
  /** Kept exports per project: more than the database limit, because JSON is larger. */
  readonly exportBytes: number;
  readonly transfers: number;
  readonly webhooks: number;
}

/** The operator sets a developer's plan. */
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
