/** Formats numbers for people, in the page's language. */

/** Formats a duration: `820 ms`, `3.2 s`, `4:05`. */
export function formatDuration(milliseconds: number, language: string): string {
  if (milliseconds < 1000) return formatUnit(Math.round(milliseconds), "millisecond", language);
  const seconds = milliseconds / 1000;
  if (seconds < 60) return formatUnit(Math.round(seconds * 10) / 10, "second", language);
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function formatUnit(value: number, unit: string, language: string): string {
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "short" }).format(value);
}

export function formatNumber(value: number, language: string): string {
  return new Intl.NumberFormat(language).format(value);
}

/** Formats US dollars; small amounts get as many digits as they need. */
export function formatCost(dollars: number, language: string): string {
  const digits = dollars < 0.01 ? 4 : 2;
  const options = { style: "currency", currency: "USD", minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(language, options as Intl.NumberFormatOptions).format(dollars);
}

/** Formats a moment: the time if it is today, otherwise the day. */
export function formatMoment(moment: string, language: string, now: number): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return "";
  const isToday = new Date(now).toDateString() === date.toDateString();
  const options: Intl.DateTimeFormatOptions = isToday ? { timeStyle: "short" } : { dateStyle: "medium" };
  return new Intl.DateTimeFormat(language, options).format(date);
}

/** Formats the name of a group of moments: today, yesterday, a day of the last week, or a month. */
export function formatDay(moment: string, language: string, now: number): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return "";
  const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86_400_000);
  if (days >= 0 && days < 2) return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(-days, "day");
  const options: Intl.DateTimeFormatOptions = days < 7 ? { weekday: "long" } : { month: "long", year: "numeric" };
  return new Intl.DateTimeFormat(language, options).format(date);
}

/** Formats bytes, in units of 1024. */
export function formatSize(bytes: number, language: string): string {
  const isLarge = bytes >= 1024 * 1024;
  const value = Math.round((bytes / (isLarge ? 1024 * 1024 : 1024)) * 100) / 100;
  return formatUnit(value, isLarge ? "megabyte" : "kilobyte", language);
}
