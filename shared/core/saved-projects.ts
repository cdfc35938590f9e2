/** What this process has remembered of a project; `projectId` is 24 hex characters. */
type Forget = (projectId: string) => void;

const forgetters: Forget[] = [];

/** Has a cache of project settings told of each project that this process saves something of. */
export const forgetWhenSaved = (forget: Forget): void => {
  forgetters.push(forget);
};

/**
 * Says that settings, keys or collections of a project were saved: what this process remembers of them is forgotten, so
 * that it counts at once where everything runs in one process. Others learn of it when their caches expire.
 */
export const projectSaved = (projectId: string): void => {
  for (const forget of forgetters) forget(projectId);
};
