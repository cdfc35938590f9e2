/** Only a path of this site: anything else could lead to another site. */
export const placeAfter = (to: string | null | undefined): string => (to && /^\/(?![/\\])/.test(to) ? to : '/');

const key = 'basalt-place-after';

/** Stores in this tab where to continue after a sign-in on another site. */
export const keepPlace = (to: string | undefined): void => sessionStorage.setItem(key, placeAfter(to));

/** Returns the stored place, once. */
export const takePlace = (): string => {
  const place = placeAfter(sessionStorage.getItem(key));
  sessionStorage.removeItem(key);
  return place;
};
