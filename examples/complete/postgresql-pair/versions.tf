terraform {
  required_version = ">= 1.11"

  required_providers {
    hadr = {
      source  = "hadr-dev/hadr"
      version = ">= 0.1.0"
    }
  }
}
