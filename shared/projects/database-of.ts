import { createHash } from 'node:crypto';
import type { Project } from './project.ts';

/** Names the database of a project's documents; each connection of an own database is another one. */
export const databaseOf = ({ placement }: Pick<Project, 'placement'>): string =>
  placement.kind === 'managed' ? placement.cell : createHash('sha256').update(placement.encryptedUri).digest('hex');
