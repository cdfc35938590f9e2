import type { Project } from '../projects/project.ts';
import type { Field, RowSecurity } from './collection.ts';
import { type CollectionRecord, toCollection } from './collection-record.ts';
import { estimateDocuments } from './count-documents.ts';

/** A collection as the dashboard returns it (contract 6, "Records"); `documents` counts the active ones, roughly. */
export interface CollectionSummary {
  readonly name: string;
  readonly schema: Field[] | null;
  readonly rls: RowSecurity;
  readonly documents: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A collection with the estimated number of its active documents; asks the database once. */
export const summarize = async (project: Project, record: CollectionRecord): Promise<CollectionSummary> => ({
  name: record.name,
  schema: record.schema && [...record.schema],
  rls: toCollection(record).rls,
  documents: await estimateDocuments(project, record.name),
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
});
