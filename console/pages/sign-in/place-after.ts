/** Only a path of this page: whatever else stands there could lead a person elsewhere. */
export const placeAfter = (to: string | null | undefined): string => (to && /^\/(?![/\\])/.test(to) ? to : '/');

const key = 'basalt-place-after';

/** Remembers in this tab where a sign-in that leads away from this page goes on. */
export const keepPlace = (to: string | undefined): void => sessionStorage.setItem(key, placeAfter(to));

/** The place that was kept, once. */
export const takePlace = (): string => {
  const place = placeAfter(sessionStorage.getItem(key));
  sessionStorage.removeItem(key);
  return place;
};
