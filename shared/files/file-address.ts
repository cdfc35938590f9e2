import { fileSettings } from '../core/config.ts';
import type { Project } from '../projects/project.ts';
import { fileKey, type Visibility } from './file-items.ts';

/** Where the files of our bucket are read, without a slash at the end. */
export const filesOrigin = (): string => fileSettings().FILES_URL.replace(/\/+$/, '');

const publicUrl = ({ storage }: Project, filePath: string): string | null => {
  if (storage.kind === 'managed') return `${filesOrigin()}/${filePath}`;
  return storage.publicHost && `${storage.publicHost.replace(/\/+$/, '')}/${fileKey(filePath, 'public')}`;
};

/** Where anybody can read a confirmed file; `null` for a private one, or in a storage that has no public host. */
export const addressOf = (project: Project, filePath: string, visibility: Visibility = 'public'): string | null =>
  visibility === 'private' ? null : publicUrl(project, filePath);
