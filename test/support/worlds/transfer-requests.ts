import { expect } from 'vitest';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { eventually } from '../clients/eventually.ts';
import { type CollectionInput, newProject, type TestProject } from './project.ts';
import { stillQueue } from './still-queue.ts';
import { domainProject } from './stored-users.ts';

/** An export or import as the dashboard answers it. */
export interface Transfer {
  readonly _id: string;
  readonly state: string;
  readonly failure: string | null;
  readonly count: number;
  readonly bytes: number;
  readonly url: string | null;
  readonly signedUrl: string | null;
  readonly contentType: string;
  readonly inserted: number;
  readonly rejected: number;
  readonly errors: readonly { readonly line: number; readonly field: string; readonly message: string }[];
}

export interface TransferBody {
  readonly data: Transfer;
}

/** Exports and imports of one project, through the dashboard API. */
export class TransferRequests {
  readonly project: TestProject;
  readonly domain: Project;
  #made = 0;

  constructor(project: TestProject, domain: Project) {
    this.project = project;
    this.domain = domain;
  }

  async newCollection(schema: CollectionInput['schema'] = null): Promise<string> {
    const name = `c${++this.#made}`;
    await this.project.addCollection({ name, schema: schema ?? null });
    return name;
  }

  path(collection: string, rest: string): string {
    return `/api/projects/${this.project.id}/collections/${collection}/${rest}`;
  }

  dashboard(method: string, collection: string, rest: string, body?: unknown) {
    return this.project.developer.dashboard<TransferBody>(method, this.path(collection, rest), body);
  }

  /** How a transfer ends. */
  ended(collection: string, kind: 'exports' | 'imports', id: string): Promise<Transfer> {
    return eventually(async () => {
      const { status, body } = await this.dashboard('GET', collection, `${kind}/${id}`);
      expect(status).toBe(200);
      expect(['done', 'failed', 'cancelled']).toContain(body.data.state);
      return body.data;
    });
  }

  async exported(collection: string, body: unknown): Promise<Transfer> {
    const answer = await this.dashboard('POST', collection, 'exports', body);
    expect(answer).toMatchObject({ status: 201, body: { success: true, data: { state: 'queued', url: null } } });
    return this.ended(collection, 'exports', answer.body.data._id);
  }

  async imported(collection: string, body: unknown): Promise<Transfer> {
    const answer = await this.dashboard('POST', collection, 'imports', body);
    expect(answer).toMatchObject({ status: 201, body: { success: true, data: { signedUrl: null } } });
    return this.ended(collection, 'imports', answer.body.data._id);
  }

  /** Puts documents into a collection behind the service's back. */
  fill(collection: string, count: number, of: (n: number) => object = () => ({})): Promise<unknown> {
    const documents = Array.from({ length: count }, (_, n) => ({ n, ...of(n), isDeleted: false, deletedAt: null }));
    return onProject(this.domain, (db) => db.collection(collection).insertMany(documents), 30_000);
  }
}

/** A new project for exports and imports; what runs of this process send on, nobody takes. */
export const openTransfers = async (collections: readonly CollectionInput[] = []): Promise<TransferRequests> => {
  process.env.WORK_QUEUE_URL = await stillQueue(process.env.AWS_ENDPOINT_URL ?? '');
  const project = await newProject(collections);
  return new TransferRequests(project, await domainProject(project));
};

/** What a link leads to. */
export const download = async (url: string | null): Promise<{ readonly text: string; readonly headers: Headers }> => {
  const response = await fetch(url ?? '');
  expect(response.status).toBe(200);
  return { text: await response.text(), headers: response.headers };
};
