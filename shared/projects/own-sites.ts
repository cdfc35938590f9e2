import type { Project } from './project.ts';

/** The sites whose pages a project names as its own, one by one: its site URL and its exact allowed domains. */
export const ownSites = ({ siteUrl, allowedDomains }: Pick<Project, 'siteUrl' | 'allowedDomains'>): string[] => [
  ...(siteUrl === null ? [] : [siteUrl]),
  ...allowedDomains.filter((entry) => !entry.startsWith('*')),
];
