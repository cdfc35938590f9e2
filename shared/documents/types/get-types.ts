import { activeCollections } from '../../collections/control-collections.ts';
import type { Project } from '../../projects/project.ts';
import { typesText } from './types-text.ts';

/** The collections of a project as TypeScript, as they are now (contract 2, "Types"). */
export const getTypes = async (project: Project): Promise<string> => typesText(await activeCollections(project));
