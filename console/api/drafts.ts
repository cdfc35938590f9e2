const prefix = 'basalt:draft:';

/** A draft belongs to one developer and one address. It is kept in this tab only and survives a reload or a sign-in. */
export const draftKey = (developerId: string, place: string): string => `${prefix}${developerId}:${place}`;

/** The stored draft; `undefined` if there is none or it cannot be read. */
export const storedDraft = (key: string): unknown => {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
};

/** Stores a draft, unless it is too large for the browser's storage. */
export const storeDraft = (key: string, draft: unknown): void => {
  try {
    sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    sessionStorage.removeItem(key);
  }
};

export const dropDraft = (key: string): void => sessionStorage.removeItem(key);

/** Removes all drafts, or those of all developers except one. */
export const dropDrafts = (except?: string): void => {
  const keys = Array.from({ length: sessionStorage.length }, (_, index) => sessionStorage.key(index) ?? '');
  const kept = except === undefined ? undefined : draftKey(except, '');
  for (const key of keys) {
    if (key.startsWith(prefix) && (kept === undefined || !key.startsWith(kept))) dropDraft(key);
  }
};
