import { hash } from 'node:crypto';
import type { Project } from './project.ts';

/** Names the database of a project's documents; each connection of an own database is another one. */
export const databaseOf = ({ placement }: Pick<Project, 'placement'>): string =>
  placement.kind === 'managed' ? placement.cell : hash('sha256', placement.encryptedUri, 'hex');
