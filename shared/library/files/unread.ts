/** Why an uploaded file is not read, and what to do. */
import { ApiError } from "../../platform/errors.ts";

export const unreadable = (message: string): ApiError =>
  new ApiError(422, `${message.replace(/\.$/, "")}: save it anew with the program that made it, or send its text`, {
    code: "UNREADABLE",
  });

export const encrypted = (what: string): ApiError =>
  new ApiError(422, `The ${what} is encrypted: send it without a password`, { code: "ENCRYPTED" });

export const tooLarge = (message: string): ApiError =>
  new ApiError(413, `${message}: divide it, or send fewer files at once`, { code: "FILE_TOO_LARGE" });

export const noText = (message: string): ApiError => new ApiError(422, message, { code: "NO_TEXT" });

export const unsupported = (message: string): ApiError => new ApiError(415, message, { code: "UNSUPPORTED_TYPE" });
